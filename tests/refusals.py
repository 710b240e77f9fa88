"""One fixture for each row of the table in `tui/model/endpoints/refusals.py`: what the endpoint really says.

To add a wording, add its row and one `Said` here. `tests/protocol/test_refusals.py` plays each to the real
client over HTTP, and names the rows without a fixture, and the rows that take the words of another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Said:
    """The answer of an endpoint.

    Attributes:
        who: that of the row.
        what: that of the row.
        body: the message in OpenAI's format, or the whole body if it is not a string. `srv__odd` is the name
            of a tool that was sent.
        status: the HTTP status.
        number: tokens that the words name: the context window, or the longest reply.
        raw: whether a string is the whole body, such as HTML.
        headers: headers of the answer.
    """

    who: str
    what: str
    body: Any
    status: int = 400
    number: int | None = None
    raw: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> Any:
        """The body as it is sent."""
        if self.raw or not isinstance(self.body, str):
            return self.body
        return {"error": {"message": self.body, "type": "invalid_request_error", "param": None, "code": None}}


def error(message: str, **fields: Any) -> dict[str, Any]:
    """Return a body in OpenAI's format with more fields."""
    return {"error": {"message": message, "type": "invalid_request_error", **fields}}


CHALLENGE = (
    '<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title></head><body><noscript>Enable '
    'JavaScript and cookies to continue</noscript><script src="/cdn-cgi/challenge-platform/h"></script></body>'
)

# fmt: off
FIXTURES = (
    # a call that the model wrote
    Said("Groq", "call", error("Failed to call a function. Please adjust your prompt.", code="tool_use_failed")),
    Said("llama.cpp", "call", "Failed to parse input at pos 0: <tool_call>{", 500),
    Said("Ollama", "call", "error parsing tool call: raw='{\"a\":', err=unexpected end of JSON input", 500),
    Said("Cerebras", "call", "Tool call validation failed: parameters for tool now did not match schema"),
    Said("Groq, forced calls", "call", "Tool choice is required, but model did not call a tool"),
    Said("Gemini", "call", "Model produced an invalid output: MALFORMED_FUNCTION_CALL"),

    # thinking next to calls
    Said("Anthropic: no blocks", "history",
         "litellm.BadRequestError: AnthropicException - messages.1.content.0.type: Expected `thinking` or "
         "`redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must "
         "start with a thinking block"),
    Said("Anthropic: blocks", "history", "messages.1.content.0: Invalid `signature` in `thinking` block"),

    # the account and rates
    Said("Google: a day", "rate",
         [{"error": {"code": 429, "message": "You exceeded your current quota, please check your plan and billing "
          "details. Please retry in 2s.", "status": "RESOURCE_EXHAUSTED", "details": [{"violations": [
          {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}, {"retryDelay": "2s"}]}}], 429),
    Said("Google: a minute", "rate",
         [{"error": {"code": 429, "message": "You exceeded your current quota, please check your plan and billing "
          "details.", "status": "RESOURCE_EXHAUSTED", "details": [{"violations": [
          {"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}]}}], 429),
    Said("OpenAI, Google", "account", error("You exceeded your current quota, please check your plan."), 429),
    Said("OpenRouter, Groq, Cloudflare, ChatGPT", "rate",
         "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day", 429),
    Said("Zhipu: a day", "rate", "您已达到每日调用上限", 429),
    Said("Groq, OpenAI: tokens per minute", "conversation",
         "Request too large for model `llama-3.1-8b-instant` in organization `org_1` on tokens per minute (TPM): "
         "Limit 6000, Requested 9000, please reduce your message size and try again. Need more tokens? Upgrade "
         "to Dev Tier today at https://console.groq.com/settings/billing", 413),
    Said("OpenRouter", "max_tokens",
         "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only "
         "afford 4250. To increase, visit https://openrouter.ai/settings/credits", 402, 4250),
    Said("OpenAI", "account", error("You exceeded your current quota.", code="insufficient_quota"), 429),
    Said("DeepSeek, MiniMax, Vercel", "account", "Insufficient Balance", 402),
    Said("Anthropic, Together", "account", "Your credit balance is too low to access the API."),
    Said("xAI, Fireworks", "account",
         {"code": "Some resource has been exhausted", "error": "Your team has either used all available credits or "
          "reached its monthly spending limit."}, 429),
    Said("Hugging Face", "account", {"error": "You have exceeded your monthly included credits for Inference."}, 402),
    Said("Google, Moonshot", "account", "This API method requires billing to be enabled.", 403),
    Said("Copilot", "account", error("You have no premium requests left.", code="quota_exceeded"), 402),
    Said("Cerebras", "account", error("Payment required to use this resource.", code="payment_required"), 402),
    Said("OpenRouter: key limit", "account", "Key limit exceeded (total limit). Manage it in your settings", 403),
    Said("Alibaba, Volcengine", "account",
         error("Access denied, please make sure your account is in good standing.", code="Arrearage")),
    Said("Zhipu, SiliconFlow", "account", error("余额不足或无可用资源包,请充值。", code="1113"), 429),
    Said("OpenAI and others", "rate",
         "Rate limit reached for model `m` in organization `org_1`. Upgrade at console.groq.com/settings/billing", 429),
    Said("Bedrock", "rate", {"message": "Too many tokens, please wait before trying again."}, 429),
    Said("Groq", "rate", "Limit on tokens per minute (TPM): Limit 100000, Used 99800, Requested 900.", 429),
    Said("Google", "rate",
         [{"error": {"code": 429, "message": "Resource has been exhausted.", "status": "RESOURCE_EXHAUSTED"}}], 429),
    Said("Bedrock: capacity", "rate", {"Message": "Service Unavailable"}, 503),
    Said("Zhipu", "rate", error("该模型当前访问量过大，请您稍后再试", code="1305"), 429),

    # a reply that may become too long
    Said("Anthropic: both", "max_tokens",
         "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length or "
         "`max_tokens` and try again", number=10_000),
    Said("vLLM", "max_tokens",
         "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 8192 "
         "tokens and your request has 300 input tokens (32000 > 8192 - 300).", number=7892),
    Said("TGI: both", "max_tokens",
         {"error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 1000 `inputs` "
          "tokens and 32000 `max_new_tokens`", "error_type": "validation"}, 422, 3096),
    Said("OpenAI, vLLM: both", "max_tokens",
         error("This model's maximum context length is 8192 tokens. However, you requested 33000 tokens (1000 in the "
               "messages, 32000 in the completion). Please reduce the length of the messages or completion.",
               code="context_length_exceeded"), number=7192),
    Said("OpenRouter: both", "max_tokens",
         "This endpoint's maximum context length is 32768 tokens. However, you requested about 37000 tokens (5000 of "
         "text input, 32000 in the output). Please reduce the length of either one, or use the \"middle-out\" "
         "transform to compress your prompt automatically.", number=27768),
    Said("vLLM, newer", "max_tokens",
         "This model's maximum context length is 16384 tokens. However, you requested 32000 output tokens and your "
         "prompt contains 384 input tokens, for a total of 32384 tokens. Please reduce the length of the input prompt "
         "or the number of requested output tokens.", number=16_000),
    Said("Cloudflare: both", "max_tokens",
         {"errors": [{"message": "AiError: The estimated number of input and maximum output tokens (33000) exceeded this model context window limit (8192).", "code": 5021}], "success": False}, 413, 7192),
    Said("SGLang: both", "max_tokens",
         "Requested token count exceeds the model's maximum context length of 40000 tokens. You requested a total of "
         "63216 tokens: 31216 tokens from the input messages and 32000 tokens for the completion.", number=8784),
    Said("OpenAI", "max_tokens",
         "max_tokens is too large: 32000. This model supports at most 4096 completion tokens, whereas you provided "
         "32000.", number=4096),
    Said("Cloudflare", "max_tokens",
         {"errors": [{"message": "AiError: max_completion_tokens is too large: 32000. This model supports at most 8000",
                      "code": 5006}], "success": False, "result": {}, "messages": []}, number=8000),
    Said("Anthropic", "max_tokens",
         "max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5", number=8192),
    Said("DeepSeek, DashScope, Z.AI", "max_tokens",
         "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", number=8192),
    Said("Vertex", "max_tokens",
         "Unable to submit request because it has a maxOutputTokens value of 32000 but the supported range is from 1 "
         "(inclusive) to 8193 (exclusive). Update the value and try again.", number=8192),
    Said("Groq, Mistral, Cohere", "max_tokens",
         "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the "
         "`context_window` for this model", number=8192),
    Said("Bedrock", "max_tokens",
         {"message": "The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum "
          "tokens value that is lower than 4096."}, number=4096),
    Said("any: the maximum", "max_tokens", "The maximum value for max_tokens is 8192", number=8192),
    Said("any: max_tokens", "max_tokens", "The value of max_tokens is too large.", number=16_000),

    # a conversation that is too long
    Said("llama.cpp: n_ctx", "conversation",
         {"error": {"code": 400, "message": "the request exceeds the available context size. try increasing it",
                    "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}}, number=4096),
    Said("llama.cpp", "conversation",
         "the request exceeds the available context size (4096 tokens), try increasing it", 500, 4096),
    Said("LM Studio", "conversation",
         "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9000>= "
         "n_ctx: 4096). Try to load the model with a larger context length", number=4096),
    Said("LM Studio, older", "conversation",
         "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context "
         "length of only 4096 tokens, which is not enough.", number=4096),
    Said("Anthropic", "conversation", "prompt is too long: 213462 tokens > 200000 maximum", number=200_000),
    Said("Anthropic: bytes", "conversation",
         {"type": "error", "error": {"type": "request_too_large", "message": "Request exceeds the maximum size"}}, 413),
    Said("Google", "conversation",
         "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).", number=1_048_575),
    Said("Vertex", "conversation",
         "Unable to submit request because the input token count is 40000 but model only supports up to 32768. Reduce "
         "the input token count and try again.", number=32_768),
    Said("Copilot", "conversation", "prompt token count of 9000 exceeds the limit of 8192", number=8192),
    Said("xAI", "conversation",
         {"code": "Client specified an invalid argument", "error": "This model's maximum prompt length is 131072 but "
          "the request contains 537812 tokens."}, number=131_072),
    Said("Mistral", "conversation",
         {"object": "error", "message": "Prompt contains 65673 tokens and 0 draft tokens, too large for model with "
          "32768 maximum context length", "type": "invalid_request_prompt", "code": "3051"}, number=32_768),
    Said("Moonshot", "conversation",
         "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)", number=8192),
    Said("MiniMax", "conversation", error("invalid params, context window exceeds limit (2013)", http_code="400")),
    Said("DashScope", "conversation",
         "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]", number=30_720),
    Said("Z.AI 1210", "conversation", {"error": {"code": "1210", "message": "tokens in request more than max tokens "
                                                 "allowed"}}),
    Said("Z.AI 1261", "conversation", {"error": {"code": "1261", "message": "Prompt exceeds max length"}}),
    Said("Zhipu, Qwen", "conversation", {"error": {"code": "1261", "message": "Prompt 超长"}}),
    Said("SGLang", "conversation",
         {"object": "error", "message": "Input length (9121 tokens) exceeds the maximum allowed length (8190 tokens). "
          "Use a shorter input or enable --allow-auto-truncate.", "type": "BadRequestError", "code": 400}, number=8190),
    Said("TGI", "conversation",
         {"error": "Input validation error: `inputs` must have less than 4095 tokens. Given: 9300",
          "error_type": "validation"}, 422, 4095),
    Said("watsonx", "conversation",
         {"errors": [{"code": "invalid_input_argument", "message": "Invalid input argument for Model 'ibm/granite': "
                      "the number of input tokens 9234 cannot exceed the total tokens limit 8192 for this model",
                      "more_info": "https://cloud.ibm.com/apidocs/watsonx-ai"}], "trace": "t", "status_code": 400},
         number=8192),
    Said("Cohere", "conversation",
         {"message": "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000. Try "
          "using a shorter prompt, or enabling prompt truncating."}, number=4081),
    Said("Cerebras", "conversation",
         {"message": "Please reduce the length of the messages or completion. Current length is 9000 while limit is "
          "8192", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}, number=8192),
    Said("Fireworks", "conversation",
         "The prompt is too long: 140000, model maximum context length: 131071", number=131_071),
    Said("GitHub Models", "conversation",
         {"error": {"code": "tokens_limit_reached", "message": "Request body too large for gpt-4o model. Max size: "
                    "8000 tokens."}}, 413, 8000),
    Said("SiliconFlow", "conversation",
         {"code": 20015, "message": "length of prompt_tokens (40000) must be less than max_seq_len (32768).",
          "data": None}, number=32_768),
    Said("SambaNova", "conversation",
         "the requested number of tokens (9000) exceeds max sequence length(8192)", number=8192),
    Said("TabbyAPI, vLLM", "conversation",
         {"detail": "Prompt length 9000 is greater than max_seq_len 4096"}, 503, 4096),
    Said("Bedrock, Titan", "conversation",
         {"message": "400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9000"},
         number=8192),
    Said("Snowflake", "conversation", {"message": "max tokens of 4096 exceeded"}, number=4096),
    Said("vLLM: nothing left", "conversation", "max_tokens must be at least 1, got -300."),
    Said("Ollama", "conversation", "no user query found in messages", 500),
    Said("Ollama: too long", "conversation", "the input length exceeds the context length"),
    Said("Volcengine", "conversation",
         "Total tokens of image and text exceed max message tokens. Request id: 0217"),
    Said("Spark", "conversation", {"error": {"message": "The token count exceeds the upper limit", "code": "10907"}}),
    Said("OpenAI, DeepSeek, vLLM", "conversation",
         "This model's maximum context length is 5000 tokens. However, your messages resulted in 9427 tokens.",
         number=5000),
        Said("any: longer", "conversation", "The prompt is longer than the maximum allowed length of 8192.", number=8192),
    Said("any: context", "conversation", "Your input exceeds the context window of this model."),
    Said("any: maximum", "conversation", "Prompt is above the maximum input length."),
    Said("any: exceeds N", "conversation", "Total number of tokens 9000 exceeds the model limit 8192", number=8192),
    Said("any: has N", "conversation", "Your prompt has 9000 tokens, but the model's context window is 8192 tokens",
         number=8192),
    Said("any: too long", "conversation", {"message": "Input is too long for requested model."}),
    Said("any: tokens", "conversation", "Request input tokens exceed model token limit. Reduce the input size."),
    Said("Groq, OpenAI: reduce", "conversation", "Please reduce the length of the messages or completion."),

    # no function calling
    Said("vLLM", "tools",
         '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    Said("llama.cpp", "tools", "tools param requires --jinja flag", 500),
    Said("Google", "tools",
         [{"error": {"code": 400, "message": "Function calling is not enabled for models/gemma-3-27b-it",
                     "status": "INVALID_ARGUMENT"}}]),
    Said("LiteLLM", "tools",
         "litellm.UnsupportedParamsError: perplexity does not support parameters: ['tools'], for model=sonar. To drop "
         "these, set `litellm.drop_params=True` or for proxy:"),
    Said("OpenRouter: parameters", "parameters",
         "No endpoints found that can handle the requested parameters. To learn more about provider routing, visit: "
         "https://openrouter.ai/docs/provider-routing", 404),
    Said("OpenRouter", "tools", "No endpoints found that support tool use. Try disabling \"now\".", 404),
    Said("OpenAI, Groq", "tools", "tools is not supported by this model.", 503),
    Said("OpenAI, Groq", "tools", "tools is not supported by this model.", 500),
    Said("OpenAI, Groq", "tools", "Unsupported parameter: 'tools' is not supported with this model."),
    Said("FastAPI", "tools",
         {"detail": [{"type": "extra_forbidden", "loc": ["body", "tools"], "msg": "Extra inputs are not permitted",
                      "input": [{"type": "function"}]}]}, 422),
    Said("any: no function calling", "tools", {"code": 20037, "message": "Function call is not supported for this "
                                               "model.", "data": None}),

    # no system role
    Said("Google (Gemma)", "system text",
         [{"error": {"code": 400, "message": "Developer instruction is not enabled for models/gemma-3-27b-it",
                     "status": "INVALID_ARGUMENT"}}]),
    Said("OpenAI (o1)", "system text",
         error("Unsupported value: 'messages[0].role' does not support 'system' with this model.",
               param="messages[0].role", code="unsupported_value")),
    Said("templates (Gemma 2)", "system text",
         {"object": "error", "message": "System role not supported", "type": "BadRequestError", "code": 400}),
    Said("DashScope, Baidu", "system text",
         "<400> InternalError.Algo.InvalidParameter: Role must be user or assistant and Content length must be > 0"),
    Said("any: role", "system text", "messages[0].role: 'system' is not supported, use 'user' or 'assistant'"),
    Said("Anthropic's API", "system text",
         'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter'),
    Said("Bedrock", "system text",
         {"message": "This model doesn't support system messages. Try again without a system message or use a model "
          "that supports system messages."}),
    Said("templates: alternating roles", "system text alone",
         "Conversation roles must alternate user/assistant/user/assistant/..."),

    # no stream
    Said("OpenAI: verification", "stream",
         error("Your organization must be verified to stream this model. Please go to: https://platform.openai.com/"
               "settings/organization/general and click on Verify Organization.", param="stream",
               code="unsupported_value")),
    Said("Bedrock", "stream", {"message": "This model doesn't support tool use in streaming mode."}),
    Said("any: no stream", "stream", "Streaming is not supported for this model."),

    # media
    Said("any: cache marks", "cache_control", "messages.0.content.0.cache_control: Extra inputs are not permitted"),
    Said("vLLM", "images", "At most 0 image(s) may be provided in one prompt."),
    Said("DeepSeek", "images", "messages[1]: unknown variant `image_url`, expected `text`"),
    Said("llama.cpp", "images",
         "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", 500),
    Said("SiliconFlow", "images",
         {"code": 20041, "message": "The model is not a VLM (Vision Language Model). Please use text-only prompts.",
          "data": None}),
    Said("Z.AI, Zhipu", "images", {"error": {"code": "1210", "message": "messages.content.type 参数非法，取值范围 ['text']"}}),
    Said("OpenAI", "images", "Invalid content type. image_url is only supported by certain models."),
    Said("Ollama, cloud", "images", "this model is missing data required for image input"),
    Said("templates", "images", {"detail": [{"loc": ["body", "messages", 1, "content"], "msg": "Input should be a valid "
                                             "string", "type": "string_type", "input": [{"type": "text"}]}]}, 422),
    Said("any: images", "images", {"message": "This model doesn't support the image content block that you provided."}),
    Said("any: audio", "audio", "audio input is not supported - this model has no audio encoder", 500),

    # tool schemas
    Said("Bedrock", "no tools", "Bedrock doesn't support tool calling without `tools=` param specified."),
    Said("OpenAI", "tools",
         "Invalid 'tools': array too long. Expected an array with maximum length 1, but got an array with length 2."),
    Said("Anthropic", "tools",
         "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"),
    Said("Moonshot", "tools", "tools.function.parameters is not a valid moonshot flavored json schema"),
    Said("Google: fields", "tools",
         "Invalid JSON payload received. Unknown name \"const\" at 'tools[0].function_declarations[0].parameters': "
         "Cannot find field."),
    Said("any: a tool's schema", "named tool", "Invalid schema for function 'srv__odd': bad const"),

    # the answer's format
    Said("Groq: with tools", "format with tools", "json mode cannot be combined with tool/function calling"),
    Said("Groq, Google: schema", "answer schema",
         "The specified schema produces a constraint that has too many states for serving.  Typical causes of this "
         "error are schemas with lots of text, schemas with long array length limits, or schemas using complex value "
         "matchers"),
    Said("OpenAI: strict", "answer schema",
         "Invalid schema for response_format 'answer': In context=(), 'required' is required to be supplied"),
    Said("Anthropic", "answer schema",
         "output_format.schema: For 'integer' type, properties maximum, minimum are not supported"),
    Said("any: grammar", "answer schema", 'Grammar error: Unimplemented keys: ["pattern"]'),
    Said("any: answer schema", "answer schema",
         "JSON schema conversion failed: Pattern must start with '^' and end with '$'"),
    Said("DeepSeek: formats", "answer schema", "This response_format type is unavailable now"),
    Said("any: JSON Schema", "answer schema", "response_format: bad name"),
    Said("any: answer format", "response_format",
         error("Extra inputs are not permitted", param="response_format")),
    Said("llama.cpp, vLLM", "tools", "failed to parse grammar", 500),

    # the order and the ids of messages
    Said("Mistral: ids", "results", "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."),
    Said("OpenAI: ids", "results",
         "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40"),
    Said("Google: names", "results",
         "GenerateContentRequest.contents[2].parts[0].function_response.name: Name cannot be empty."),
    Said("Mistral: order", "user behind result", "Unexpected role 'user' after role 'tool'"),
    Said("templates: results", "results", "Only user and assistant roles are supported!"),

    # reasoning in the history
    Said("DeepSeek, Moonshot", "history",
         "The `reasoning_content` in the thinking mode must be passed back to the API."),
    Said("Groq, Mistral", "history", "'messages.1' : property 'reasoning_content' is unsupported"),

    # parameters
    Said("OpenAI: new name", "max_tokens",
         "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."),
    Said("OpenAI: levels", "reasoning_effort",
         "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: "
         "'low', 'medium', and 'high'."),
    Said("Mistral", "stream_options",
         {"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"],
                                                     "msg": "Extra inputs are not permitted"}]}}, 422),
    Said("OpenAI (o3)", "stop", "Unsupported parameter: 'stop' is not supported with this model."),
    Said("OpenAI (o3)", "temperature", "Unsupported value: 'temperature' does not support 0.5 with this model."),
    Said("OpenAI", "top_p", "Unsupported parameter: 'top_p' is not supported with this model."),
    Said("Cerebras", "seed", "property 'seed' is unsupported"),
    Said("xAI", "reasoning_effort",
         {"code": "Client specified an invalid argument", "error": "Model grok-4-0709 does not support parameter "
          "reasoningEffort."}),
    Said("Ollama, Google", "reasoning_effort", '"qwen2.5:7b" does not support thinking'),
    Said("OpenRouter", "reasoning", "Unrecognized request argument supplied: reasoning"),
    Said("Zhipu", "thinking", "unknown field: thinking"),
    Said("DashScope", "enable_thinking", "parameter.enable_thinking must be set to false for non-streaming calls"),
    Said("DashScope", "thinking_budget", "The thinking_budget parameter is not supported by this model"),
    Said("vLLM", "chat_template_kwargs", "chat_template_kwargs: Extra inputs are not permitted"),
    Said("OpenAI: cache", "prompt_cache_key", "unknown field `prompt_cache_key`"),
    Said("any: max_tokens, unknown", "max_tokens", "Unrecognized request argument supplied: max_tokens"),
    Said("Mistral, Ollama", "max_completion_tokens", "unknown field: max_completion_tokens"),

    # what is only told
    Said("Cloudflare", "program", CHALLENGE, 403, raw=True, headers={"cf-mitigated": "challenge"}),
    Said("other firewalls", "program", "<html><head><title>Vercel Security Checkpoint</title></head></html>", 429, raw=True),
    Said("TLS", "http", "Client sent an HTTP request to an HTTPS server.", raw=True),
    Said("OpenAI: verification", "account", "Your organization must be verified to use the model `o3`.", 403),
    Said("Azure, Alibaba, Zhipu", "content",
         error("The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
               code="content_filter")),
    Said("Ollama", "memory", "model requires more system memory (9 GiB) than is available (7 GiB)", 500),
    Said("llama.cpp, Hugging Face", "model", error("Loading model", type="unavailable_error", code=503), 503),
    Said("Zhipu, Baidu", "model", "模型正在加载，请稍后", 503),
    Said("any: for a moment", "load", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, 529),
    Said("any: model", "model", "The model `m` does not exist or you do not have access to it.", 404),
    Said("any: key", "key", "API key not valid. Please pass a valid API key."),
)
# fmt: on
