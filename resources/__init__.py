"""What the assets work with, as typed and described Dagster resources.

Only this package reads the environment.
"""

from resources.compute import EngineResource, FanoutResource
from resources.hub import HubResource
from resources.model import ModelResource
from resources.opt_outs import OptOutsResource
from resources.store import StoreResource
from resources.toolchains import ToolchainsResource

__all__ = [
    "EngineResource",
    "FanoutResource",
    "HubResource",
    "ModelResource",
    "OptOutsResource",
    "StoreResource",
    "ToolchainsResource",
]
