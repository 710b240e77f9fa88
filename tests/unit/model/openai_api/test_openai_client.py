"""openai, loaded without the types of its API."""

from importlib.metadata import version

from tests.programs import printed_by

CLIENT = """
import sys
from tui.model.openai_api.openai_client import load_openai
client = load_openai().AsyncOpenAI(api_key="none")
"""


def test_this_openai_version_supports_loading_its_client_alone():
    """Seen with openai 3.57. If another version does not support this, all of it is loaded."""
    assert version("openai").startswith("3.")


def test_a_client_for_chat_requests_loads_no_api_types_until_one_is_imported():
    used = "client.chat.completions.with_streaming_response\n"
    loaded = "print([name for name in sys.modules if name.startswith('openai.types')])\n"
    later = "from openai.types.chat import ChatCompletion\nprint(len(ChatCompletion.model_fields) > 0)"
    assert printed_by(f"{CLIENT}{used}{loaded}{later}").split() == ["[]", "True"]
