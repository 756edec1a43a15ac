"""Injector: bucketization that heeds what people never have."""

from shoal.methods.injector.injector import Injector as Injector
