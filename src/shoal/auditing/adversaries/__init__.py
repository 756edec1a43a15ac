"""The adversary of one A-group: exact posteriors, certified bounds, estimates."""

from shoal.auditing.adversaries.joint import (
    JOINT_BUDGET,
    JointEstimate,
    binary_posterior,
    joint_bounds,
    joint_estimate,
    joint_posterior,
)

__all__ = [
    "JOINT_BUDGET",
    "JointEstimate",
    "binary_posterior",
    "joint_bounds",
    "joint_estimate",
    "joint_posterior",
]
