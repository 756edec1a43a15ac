"""Anatomy: bucketization into groups where no event occurs twice."""

from shoal.methods.anatomy.anatomy import Anatomy as Anatomy
