"""Outside knowledge: an adversary's distributions that come from a file, not from the table."""

from shoal.knowledge.outside.read import read_knowledge as read_knowledge
