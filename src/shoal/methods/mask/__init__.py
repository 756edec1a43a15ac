"""MASK: generalization, then distortion where an event is too frequent."""

from shoal.methods.mask.mask import Mask as Mask
