"""The adversary of one A-group: exact posteriors, certified bounds, estimates."""

from shoal.adversary.binary import binary_posterior
from shoal.adversary.bounds import joint_bounds
from shoal.adversary.estimate import JointEstimate, joint_estimate
from shoal.adversary.joint import JOINT_BUDGET, joint_posterior

__all__ = [
    "JOINT_BUDGET",
    "JointEstimate",
    "binary_posterior",
    "joint_bounds",
    "joint_estimate",
    "joint_posterior",
]
