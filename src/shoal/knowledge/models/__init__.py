"""Fitted models as knowledge: a distribution for every signature, from all attributes at once."""

from shoal.knowledge.models.crossfit import BANDWIDTH as BANDWIDTH
from shoal.knowledge.models.crossfit import FOLDS as FOLDS
from shoal.knowledge.models.crossfit import Kernel as Kernel
from shoal.knowledge.models.crossfit import fit_model as fit_model
from shoal.knowledge.models.crossfit import kernel_estimate as kernel_estimate
