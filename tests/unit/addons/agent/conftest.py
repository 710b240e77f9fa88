"""The processes of the agents."""

from tests.unit.addons.agent.agent_stage import quick_agents

__all__ = ["quick_agents"]
