"""The table of refusals: which endpoint refuses what, in which words, and the reaction. Pure.

To add a wording, add one row here and one fixture to `tests/refusals.py`, see docs/contributing.md. The first
row that matches decides, so rows with one provider's own words come before general ones.
"""

from tui.model.endpoints.refusal_rows import (
    CALLS,
    CANNOT,
    FAILED_LOAD,
    FORMAT,
    GRAMMAR,
    IMAGES,
    NOT,
    REASONING,
    SCHEMA,
    SENT,
    SYSTEM,
    THINKING,
    UNKNOWN,
    Do,
    Refusal,
    named,
    parameter,
    rows,
)

# fmt: off
TABLE: tuple[Refusal, ...] = (
    # -- a call that the model wrote, and that the endpoint or its parser could not read
    *rows("call", Do.RETRY, {
        "Groq": r"tool_use_failed|failed_generation",
        "llama.cpp": r"failed to (?:call|parse|generate)\b.{0,24}(?:input at pos|(?:function|tool)(?!s\b"
        r"|\w*\W{1,3}(?:schema|definition|parameters|grammar)))",
        "Ollama": r"error parsing tool call",
        "Cerebras": r"tool call validation failed|attempted to call tool|parameters for tool .{1,80} did not "
        r"match schema",
        "Groq, forced calls": r"tool choice is (?:required|none), but|model did not call a tool",
        "Gemini": r"malformed_function_call",
    }),

    # -- thinking next to calls
    Refusal("Anthropic: no blocks", "history", Do.NO_THINKING,
            r"expected `?(?:redacted_)?thinking.{0,60}found|(?:must|should) (?:start|begin) with a thinking"
            r" block|thinking_?blocks?.{0,60}(?:missing|required)"),
    Refusal("Anthropic: blocks", "history", Do.NO_BLOCKS,
            r"invalid `?signature`? in `?(?:redacted_)?thinking|thinking`? blocks? .{0,80}cannot be modified"
            r"|thinking\.signature"),

    # -- what a wait does not help, although its words are those of rate limits
    Refusal("Groq, OpenAI: tokens per minute", "conversation", Do.SHORTEN,
            r"request too large for .{0,240}(?:limit:? \d|message size|must be reduced)"),
    Refusal("Groq, Google: schema", "answer schema", Do.PLAIN_JSON_NOW, r"too many states for serving"),

    # -- Google's names of quotas; the time beside that of a day is the time of a minute's
    Refusal("Google: a day", "rate", Do.NEXT_DAY, r"(?:requests?|tokens?|quota)\w*per_?day"),
    Refusal("Google: a minute", "rate", Do.WAIT, r"(?:requests?|tokens?|quota)\w*per_?minute"),

    # -- the account
    Refusal("OpenRouter", "max_tokens", Do.FEWER_TOKENS,
            r"requires more credits, or fewer max_tokens.{0,80}can only afford <now>"),
    *rows("account", Do.PAY, {
        "OpenAI": r"insufficient_quota",
        "DeepSeek, MiniMax, Vercel": r"insufficient[_ ](?:account )?(?:balance|credits?|funds)|(?<!credit "
        r")balance is (?:insufficient|not enough|too low)",
        "Anthropic, Together": r"credits? (?:balance|limit)|out of credits?|credit_balance"
        r"|(?:\bno|(?:n.t|\bnot) have (?:any|enough|sufficient)) (?:remaining )?credits?\b",
        "xAI, Fireworks": r"(?:used all|exhausted|depleted|expired).{0,40}credits?|credits? (?:are |have |is "
        r"|has )?(?:been )?(?:depleted|exhausted|expired)|(?:monthly )?spending limit",
        "Hugging Face": r"exceeded your (?:monthly|daily) included credits",
        "Google, Moonshot":
        r"(?:requires|enable|activate) (?:\w+ ){0,4}billing|billing[_ ](?:to be|hard|soft|is not|not)",
        "Cerebras":
        r"payment[_ ]required|(?:account|key)(?: \S{1,40})? (?:is |has been )?(?:overdue|suspended)",
        "OpenRouter: key limit": r"key limit exceeded",
        "Alibaba, Volcengine": r"arrearage|account ?overdue|account is in good standing|free ?tier ?only",
        "Zhipu, SiliconFlow": r"余额不足|欠费|无可用资源包",
    }),

    *rows("account", Do.PAY_OR_WAIT, {
        "OpenAI, Google": r"exceeded your current quota|(?:check|your) (?:\w+ ){0,4}billing|billing "
        r"(?:account|details|issue|limit)|billing_",
        "Copilot": r"quota_exceeded",
    }),

    # -- rate limits, those of hours first
    *rows("rate", Do.WAIT_LONG, {
        "OpenRouter, Groq, Cloudflare, ChatGPT": r"per[ -_]?(?:day|week|month)|\b(?:daily|weekly|monthly)\b"
        r"|\b[RT]PD\b|\b5[ -]hours?\b|usage[_ ]limit",
        "Zhipu: a day": r"每日|每天|本周|本月",
    }),
    *rows("rate", Do.WAIT, {
        "OpenAI and others": r"rate.?limit|too many requests|throttl",
        "Bedrock": r"too many .{0,40}please wait|please wait before",
        "Groq": r"(?:tokens?|requests?) per (?:min|hour)|\b[TR]PM\b",
        "Google": r"quota|resource_exhausted|resource has been exhausted",
        "Bedrock: capacity": r"service unavailable",
        "Zhipu": r"访问量过大|并发数过高|请求过于频繁|触发限流",
    }),

    # -- a reply that may become too long: the number is the longest reply, never the window
    *rows("max_tokens", Do.FEWER_TOKENS, {
        "Anthropic: both":
        r"input length and `?max_tokens`? exceed context limit: <input> \+ <output> > <window>",
        "vLLM": r"max_(?:completion_)?tokens'? is too large: <output>.{0,60}context length is <window> "
        r"tokens and your request has <input>",
        "TGI: both": r"tokens \+ `?max_new_tokens`? must be <= <window>\. Given: <input> `?inputs`? tokens "
        r"and <output>",
        "Cloudflare: both": r"input and maximum output tokens \(<total>\) exceed\w{0,3} this model context "
        r"window limit \(<window>",
        "OpenAI, vLLM: both": r"context length is <window>\b.{0,90}requested \S{1,9} tokens \(<input> in "
        r"(?:the|your) (?:messages|prompt)\W{1,3}(?:<count> in the functions\W{1,3})?<output> (?:in|for) the "
        r"completion",
        "OpenRouter: both": r"context length is <window>\b.{0,90}\(<input> of text input(?:, <count> of tool "
        r"input)?, <output> in the output",
        "vLLM, newer": r"context length is <window>\b.{0,60}requested <output> output tokens and your prompt "
        r"contains(?: at least)? <input> input",
        "SGLang: both": r"context length of <window>\b.{0,60}total of \S{1,9} tokens: <input> tokens from "
        r"the input messages and <output> tokens for the completion",
        "OpenAI": r"supports? (?:at most|up to|a maximum of) <most> (?:completion|output) tokens",
        "Cloudflare": r"max_(?:completion_|output_)?tokens.{0,6} is too large.{0,60}at most <most>",
        "Anthropic": r"max_tokens: \S{1,9} > <most>, which is the maximum",
        "DeepSeek, DashScope, Z.AI":
        r"max_?(?:completion_|output_)?tokens.{0,80}\[ ?\d{1,3} ?[,，] ?<most> ?\]",
        "Vertex": r"max_?(?:output)?_?tokens value of \S{1,9}.{0,60}range is from \d+ \(inclusive\) (?:up "
        r")?to <most>(?: \(exclusive)?",
        "Groq, Mistral, Cohere": r"(?:\bmax[_ ]?(?:completion_|output_|new_)?tokens?|(?<!maximum )\boutput "
        r"tokens)\b.{0,40}?(?:<=|≤|(?:less|lower|smaller) than(?: or equal to)?|at most|(?<!must be "
        r")(?<!should be )(?:greater|larger|more|higher|bigger) than|up to|below|between \d+ and|exceeds?\b"
        r"|\blimit(?: is| of)?)\D{0,30}?<most>",
        "Bedrock": r"maximum tokens you requested exceeds the model limit of <most>",
        "any: the maximum": r"maximum (?:value )?(?:for|of) .?max_(?:completion_)?tokens.? is <most>",
        "any: max_tokens": r"max_(?:completion_|output_|new_)?tokens.{0,12}(?:is|are|was|value is"
        r"|parameter is)? ?(?:too (?:large|big|high)|out of range|exceeds?\b|above)",
    }),

    # -- a conversation that is too long: the number is the window
    *rows("conversation", Do.SHORTEN, {
        "llama.cpp: n_ctx": r"exceed_context_size_error.{0,200}\bn_ctx\W{1,4}<window>",
        "llama.cpp": r"exceed\w{0,9} the available context size(?: \(<window>)?",
        "LM Studio": r"tokens to keep from the initial prompt is (?:greater|larger) than the context"
        r" length(?:.{0,40}n_ctx: <window>)?",
        "LM Studio, older": r"keep the first \S{1,9} tokens when.{0,60}context length of only <window>",
        "Anthropic": r"prompt is too long: \S{1,9} tokens? > <window>",
        "Anthropic: bytes": r"request_too_large",
        "Google": r"\bexceeds? the maximum number of (?:input )?tokens(?: allowed)?(?: \(?<window>)?",
        "Vertex": r"input token count (?:is \S{1,9} )?but (?:the )?model only supports up to <window>",
        "Copilot": r"(?:prompt|input) token count of \S{1,9} exceeds the limit of <window>"
        r"|model_max_prompt_tokens_exceeded",
        "xAI": r"maximum prompt length is <window>",
        "Mistral": r"too large for model with <window>",
        "Moonshot": r"exceeded (?:the )?(?:model )?token limit(?:: <window>)?",
        "MiniMax": r"context window exceeds limit(?! ?\(?\d{5})",
        "DashScope": r"range of input length should be \[\d+, ?<window>\]",
        "Z.AI 1210": r"tokens in request more than max tokens allowed",
        "Z.AI 1261": r"\b(?:prompt|input)s? exceeds? (?:the )?max(?:imum)? length",
        "Zhipu, Qwen":
        r"prompt ?超长|输入.{0,12}(?:超长|过长|超过)|超[过出].{0,10}(?:上下文|最大长度|最大输入)"
        r"|上下文.{0,6}(?:超|过长)",
        "SGLang": r"(?:prompt|input|sequence|context) ?(?:length|size)?s? ?\(?\S{1,9}(?: tokens?)?\)? "
        r"(?:exceeds?|is (?:longer|greater|larger) than) (?:the )?(?:model.?s )?(?:maximum |max |allowed "
        r"|supported )*(?:(?:context|input|sequence|prompt|token) )?(?:length|window|size|limit)s?(?: of| is"
        r"|:)? ?\(?<window>",
        "TGI": r"`?inputs`? (?:must have|tokens must be) less than <window>",
        "watsonx": r"input tokens \S{1,9} (?:cannot|can ?not|must not) exceed the (?:total )?tokens? "
        r"limit(?: of)? <window>",
        "Cohere": r"too many tokens: .{0,80}(?:cannot|must not|can.t) exceed <window>"
        r"|size limit exceeded by \d+ tokens",
        "Cerebras": r"reduce the length of .{0,60}current length is \S{1,9} while limit is <window>",
        "Fireworks": r"(?:prompt|input) is too long: \S{1,9}, model maximum context length: <window>",
        "GitHub Models": r"body too large for .{0,80}max size: <window> tokens",
        "SiliconFlow": r"(?:prompt_tokens|max_total_tokens)\D{0,6}\S{0,9} must be less than(?: or equal to)? "
        r"max_seq_len \(<window>",
        "SambaNova": r"(?:exceeds? (?:the )?max(?:imum)? sequence length|sequence length \S{1,9} exceeds "
        r"(?:the )?maximum) ?\(?<window>",
        "TabbyAPI, vLLM": r"(?:length|tokens) \S{1,9} (?:is greater than|exceeds) (?:the )?(?:max_seq_len"
        r"|max_input_len|max_model_len|cache_size) <window>",
        "Bedrock, Titan": r"too many input tokens\W{1,3}max input tokens: <window>",
        "Snowflake": r"max tokens of <window> exceeded",
        "vLLM: nothing left": r"max_(?:completion_)?tokens must be at least 1, got -|default_max_tokens \(-"
        r"|no room for (?:output|completion)",
        "Ollama": r"no user query found",
        "Ollama: too long": r"exceeded max context length by|input length exceeds the context length",
        "Volcengine": r"exceed max message tokens|max_message_tokens",
        "Spark": r"token count exceeds the upper limit",
        "OpenAI, DeepSeek, vLLM":
        r"(?:maximum|max) (?:context|input|sequence) (?:length|window)(?: is| of|:)? ?\(?<window>",
        "any: longer":
        rf"(?:{SENT}|sequence).{{0,60}}(?:longer|greater|larger|more) than (?:the )?(?:model.?s )?"
        r"(?:specified )?(?:maximum |max )?(?:allowed |supported )?(?:(?:context|input|prompt|sequence"
        r"|model) )?(?:length|window|size)(?: of <window>)?",
        "any: exceeds N": r"(?:(?<!max_)\btokens?|\binputs?|\bprompts?)\b.{0,40}\bexceed(?:s|ed)? (?:the "
        r"|this |our )?(?:[\w'’]{1,20} ){0,4}(?:limit|length|window|size|maximum)(?: of| is|:)? ?\(?<window>",
        "any: has N": rf"(?:{SENT}.{{0,60}}tokens\b.{{0,40}}context (?:window|length|size) is (?:only )?"
        r"|\bnot fit (?:in|into|within) (?:the |its )?(?:model.?s )?context(?: window| length)?\W{1,3}"
        rf"|has a context (?:window|length) of (?=.{{0,60}}\b{SENT}))<window>",
        "any: context": r"context[_ ]?(?:length|window|size)(?:[_ ]limit)?[_ ]?(?:is |has been |was "
        r")?(?:exceed|reached|too small|of only|overflow)|exceed\w{0,9} (?:the |this |your )?(?:(?:available"
        r"|allowed|model.?s?|configured) )*(?:maximum |max )?context|context (?:overflow|limit (?:reached"
        r"|exceeded))|model_context_window_exceeded|(?:reached|hit|beyond|past|over) (?:its |the |your "
        r")?(?:maximum )?context (?:window|length|limit)",
        "any: maximum": r"maximum (?:context|prompt|input) length|maximum allowed (?:input|prompt) length",
        "any: too long":
        rf"\b{SENT}(?: length| size)?(?: is| are|_is|_too|:)?[ _]?(?:too[ _](?:long|large|big))"
        r"|prompt_too_long|string_above_max_length.{0,60}messages|body is too large|entity too large",
        "any: tokens": r"(?:tokens? limit(?: of \d{1,9})?|max_tokens_limit|tokens_limit)[_ ](?:exceeded"
        r"|reached)|too many (?:input |prompt )?tokens|input tokens? (?:count )?(?:exceeds?|exceeded)\b"
        r"|(?:tokens?|inputs?|prompts?) .{0,80}\bexceed(?:s|ed|ing)? (?:the |our |this )?(?:model(?:.?s)? "
        r")?(?:max|limit|context|allowed|configured|total token)|token count is above|token_quantity_exceeded"
        r"|exceeds? n_ctx|exceeds? (?:the )?maximum allowed tokens|max input characters|maximum length "
        r"exceeded",
        "Groq, OpenAI: reduce": r"(?:reduce|shorten) (?:the length of )?(?:the |your )?(?:length of (?:the "
        r"|your )?)?(?:messages|prompt|input|context)\b|(?:shorter|smaller) (?:prompt|input|context)",
    }),

    # -- no function calling
    Refusal("Bedrock", "stream", Do.NO_STREAM,
            r"in streaming mode|unsupported for streaming|tools with stream|stream(?:ing)? with tools"),
    *rows("tools", Do.TEXT_TOOLS, {
        "vLLM": r"enable-auto-tool-choice|tool[-_]call[-_]parser|(?:\bno|\bnot?\b.{0,16}) tool parser"
        r"|--tool-parser",
        "llama.cpp": r"--jinja",
        "Google": rf"{CALLS} is not enabled|{CALLS} (?:is|are) not (?:available|allowed)",
        "LiteLLM": r"not support (?:the )?param(?:eter)?s?\b.{0,8}[\[{(].{0,60}\btools\b",
    }),
    Refusal("OpenRouter: parameters", "parameters", Do.FEWER_PARAMETERS,
            r"no endpoints? (?:found )?that can handle the requested parameters"),
    *rows("tools", Do.TEXT_TOOLS, {
        "OpenRouter": r"no endpoints? (?:found )?that support tool use|support tool use",
        "OpenAI, Groq":
        r"""\btools["'`]?(?: and \W?tool_choice\W?)?(?: param(?:eter)?| field| option)?(?: is"""
        r"""| are)? not (?:supported|allowed|permitted|enabled|available|accepted|a valid)"""
        r"""|(?:unsupported|invalid|unknown|unrecogni[sz]ed|unexpected) (?:request )?(?:keyword"""
        r""" )?(?:param(?:eter)?|field|argument|name)s?(?:\(s\))?(?: supplied)?\W{1,4}tools\b(?!\[|\.)"""
        r"""|\btools\W? was unexpected|cannot use tools|no tool support|\btools? (?:use )?is disabled"""
        r"""|unsupported (?:\w+ )?params?\W{1,4}tools\b""",
        "FastAPI": r"\btools\W{1,3}(?:extra (?:inputs|fields) (?:are )?not (?:permitted|allowed))"
        r"|extra_forbidden.{0,40}\btools\b(?![.\[])",
        "any: no function calling":
        rf"{CALLS}.{{0,24}}(?:(?:\bnot\b|n.t\b).{{0,12}}(?:support|enabl|implement|available|compatible)"
        rf"|\bunsupported)|(?:\bnot|n.t|\bno)\b.{{0,12}}(?:support|capab|compatib"
        rf"|able)\w{{0,8}}.{{0,30}}(?:{CALLS}|\btools\b|\bfunctions\b)(?! ?(?:schema|keyword|format"
        rf"|choice))|(?:\bnot a|(?:\bnot|n.t) have(?: any)?) (?:{CALLS})"
        r"|\b(?:tools?|functions|tool support) (?:is|are) (?:not (?:supported|available)|unsupported)"
        r"|property \W?tools\W? is unsupported|(?:不支持|未开启).{0,12}(?:function ?call|tools?|工具"
        r"|函数调用)|(?:function ?call\w*|tools?|工具调用|函数调用).{0,8}不支持|n.t have tools"
        r"|\btools\W{1,2} unsupported|tools cannot be used|calling requires a model|\] support tool"
        r"|\btools\b.{0,12} requires a model|unable to use tools|\bnot (?:been )?trained for (?:tool"
        rf"|function)|(?:{CALLS}|\btools) (?:is|are) only (?:supported|available) (?:for|by|with|on)\b"
        rf"|(?:{CALLS}|\btools\b) (?:is|are) (?:currently )?not (?:currently |yet )?supported",
    }),
    # -- no system role
    *rows("system text", Do.JOIN_SYSTEM, {
        "Google (Gemma)": r"(?:developer|system) instructions? (?:is|are) not (?:enabled|supported|allowed)",
        "OpenAI (o1)": r"\brole\W{1,3} does not support \W?(?:system|developer)|unsupported value:"
        r" \W?messages\[\d+\]\.role",
        "templates (Gemma 2)": rf"{SYSTEM} (?:is |are )?not (?:supported|allowed)",
        "DashScope, Baidu": r"allowed roles\W{1,3}user\W{1,4}assistant\b(?!\W{1,4}(?:or )?\W?system)"
        r"|roles?\W{0,3} (?:must|should|can only) be (?:in |one of |either )?\W{0,2}(?:user"
        r"|assistant)\W{1,4}(?:or |and )?\W?(?:assistant|user)(?!\W{1,4}(?:or |and )?\W?system)",
        "any: role": r"[\"'`](?:system|developer)[\"'`] (?:role )?(?:is "
        r"|are )?(?:(?:currently )?not (?:currently )?(?:supported"
        r"|allowed|permitted|valid|accepted)|unsupported)|\brole (?:system|developer) is not (?:permitted"
        r"|supported|allowed|valid)|role\W{1,3}input should be (?!.{0,60}\b(?:system"
        r"|developer)\b)\W?user\b"
        r"|invalid value: \W?(?:system|developer)\W|role of messages? (?:must|should) be \W?user",
        "Anthropic's API": r"unexpected role \W{0,2}(?:system|developer)|(?:invalid|unknown"
        r"|unsupported) (?:message )?role\W{1,4}(?:system|developer)",
        "Bedrock": rf"{named(SYSTEM, within=24)}",
    }),
    Refusal("templates: alternating roles", "system text alone", Do.JOIN_SYSTEM,
            r"roles? must alternate|only user.{0,40}roles are supported|first message must (?:be|have"
            r"|use)\W{1,3}(?:from |the )?\W?(?:role )?user"),

    # -- no stream
    *rows("stream", Do.NO_STREAM, {
        "OpenAI: verification": r"must be verified to stream",
        "any: no stream": r"\bstream(?:ing)?\W{0,2}(?:=? ?true\W?)? (?:mode |responses? |parameter )?(?:is"
        r"|are) (?:currently )?not (?:supported|enabled|allowed|available)"
        r"|not support \W?stream(?:ing)?\b(?!_)|unsupported (?:value|parameter)\W{1,3}stream\b(?!_)"
        r"|streaming (?:is )?unsupported|streaming not supported|non-streaming requests"
        r"|\bstream\W{1,2} must be false|streaming is disabled|cannot be streamed",
    }),
    # -- media; cache marks come first, because they turn a text into a list, too
    Refusal("any: cache marks", "cache_control", Do.OMIT,
            r"cache_control|content(?!\W{1,3}string too long).{0,40}(?:must be|should be"
            r"|expected).{0,20}string"),
    *rows("images", Do.OMIT, {
        "vLLM": r"at most 0 image",
        "DeepSeek": r"unknown variant .?image_url",
        "llama.cpp": r"mmproj",
        "SiliconFlow": r"not a (?:VLM|LMM|vision|multi-?modal)|not have (?:any )?(?:vision|image)|text-only "
        r"(?:prompt|model|server|input)|no vision support|unknown (?:content )?part type\W{1,3}image|is "
        r"text-only|\bnot multi-?modal",
        "Z.AI, Zhipu": r"content\.type.{0,60}\[\W{0,2}text\W{0,2}\]",
        "OpenAI": r"only (?:supports?|accepts?) text\b|expected \W?text\W{1,4}(?:but )?got \W?image|should "
        r"be \W?text\W.{0,40}image_url|image_url is only supported|invalid value: "
        r".?image_url.{0,60}supported values are: .?text\W{0,2}$|invalid value: .?image_url"
        r"|image_url.{0,60}only (?:text|supported)|only text\b.{0,40}(?:content|input|supported|allowed)",
        "Ollama, cloud": r"missing data required for image",
        "templates": r"content(?!\W{1,3}string too long).{0,40}(?:must be|should be"
        r"|expected).{0,20}string(?!.{0,12}null)|only string content|expected string,? got (?:an )?array",
        "any: images": rf"(?:{IMAGES}).{{0,80}}(?:{CANNOT}|supported values)|(?:{CANNOT}"
        rf"|no endpoints?).{{0,60}}(?:{IMAGES})"
        r"(?! (?:larger|bigger|over|above))",
    }),
    Refusal("any: audio", "audio", Do.OMIT,
            rf"unknown variant .?input_audio|at most 0 audio|\baudio.{{0,80}}(?:{CANNOT}|supported values"
            rf"|only text)|(?:{CANNOT}|no endpoints?).{{0,60}}audio"),

    # -- tool schemas: the tool that is named, or the form of all
    Refusal("Bedrock", "no tools", Do.ADD_TOOLS,
            r"without `?tools|\btools=?`? param|must (?:define|provide|include|specify).{0,20}tools"
            r"|(?:toolConfig|tools).{0,30}must be (?:defined|provided|set|specified)"),
    Refusal("OpenAI", "tools", Do.FEWER_TOOLS,
            r"\A(?!.*(?:string too long|\.(?:name|description|parameters)\b|propert|nesting"
            r"|depth)).*?(?:\btools\b|functions).{0,120}?(?:at most|up to|(?:maximum(?: length| number)?"
            r"|limit)(?: of| is)?)\D{0,20}<count>\b(?! ?(?:char|level|token|byte|propert|nest|enum|deep"
            r"|long))"),
    Refusal("Anthropic", "tools", Do.PLAIN_KEYS, r"propert\w+ keys? .{0,40}match|keys? should match pattern"),
    Refusal("Moonshot", "tools", Do.KIMI_TOOLS, r"moonshot.{0,40}schema"),
    Refusal("Google: fields", "tools", Do.GEMINI_TOOLS,
            r"function_?declarations|GenerateContentRequest\.tools|Cannot find field"),
    Refusal("any: a tool's schema", "named tool", Do.SIMPLER_TOOL,
            rf"{SCHEMA}|\bfunction_?declarations[.\[]\d|\btools?[.\[]\d"),

    # -- the answer's format; a grammar that cannot be built says nothing about tools
    Refusal("Groq: with tools", "format with tools", Do.NO_FORMAT,
            rf"{FORMAT}.{{0,120}}(?:\btools?\b|function.?call)|(?:\btools?\b"
            rf"|function.?call).{{0,120}}{FORMAT}"),
    Refusal("DeepSeek: formats", "answer schema", Do.PLAIN_JSON,
            r"(?:not support|unsupported|invalid)\w* response.?format|response.?format\b.{0,60}(?:not"
            r" supported|unavailable|must be)|unknown variant .?json_schema|structured[_ ]outputs? (?:is"
            r"|are) not supported|json_schema\W? is not supported|type.{0,8}json_schema.{0,12}not supported"),
    *rows("answer schema", Do.PLAIN_JSON_NOW, {
        "OpenAI: strict": r"invalid (?:json )?schema for response_format",
        "Anthropic": r"output_(?:format|config)(?:\.format)?\.schema|response_?schema|json_schema\.schema"
        r"|schema is too complex|compiled grammar is too large",
        "any: grammar": rf"{GRAMMAR}.{{0,120}}(?:error|fail|invalid|unsupported|not support|unable|could not"
        r"|unimplemented|too (?:large|complex)|compil)"
        rf"|(?:error|fail\w*|invalid|unsupported|not support\w*|unable|could not"
        rf"|unimplemented).{{0,80}}{GRAMMAR}"
        r"|unimplemented keys|initialize samplers",
        "any: answer schema": r"(?:invalid|unsupported|unrecogni[sz]ed|fail\w* to (?:parse|compile"
        r"|convert)).{0,40}(?:json[_ ]?)?schema(?! ?(?:type\b|response_format))"
        r"|schema.{0,80}(?:unsupported|not support|not permitted|too (?:large|complex|deep)|\binvalid\b"
        r"|exceed|conver\w+ failed)|schema has too many|not support\w* in (?:the |this )?schema"
        r"|for \W?\w+\W? type, propert\w+ .{1,60} (?:is|are) not supported",
        "any: JSON Schema": FORMAT,
    }),
    Refusal("any: answer format", "response_format", Do.OMIT, FORMAT),
    Refusal("llama.cpp, vLLM", "tools", Do.SIMPLER_TOOLS, rf"{SCHEMA}|xgrammar|llguidance"),

    # -- the order and the ids of messages
    Refusal("Mistral: ids", "results", Do.SHORT_IDS, r"tool.?call.?id.{0,200}length of 9"),
    Refusal("OpenAI: ids", "results", Do.PLAIN_IDS,
            r"tool_(?:calls?|use)\S{0,12}id\b.{0,200}(?:too long|pattern)"),
    Refusal("Google: names", "results", Do.NAMED_RESULTS, r"function_?response\.name.{0,40}empty"),
    Refusal("Mistral: order", "user behind result", Do.BETWEEN,
            r"unexpected role .{0,20}tool|roles? must alternate|only user.{0,40}roles are supported"),
    Refusal("templates: results", "results", Do.TEXT_RESULTS,
            r"roles? must alternate|only user.{0,40}roles are supported"),

    # -- reasoning in the history
    Refusal("DeepSeek, Moonshot", "history", Do.SEND_REASONING,
            r"reasoning_content.{0,80}(?:must be (?:passed|sent) back|required|missing)"
            r"|missing.{0,20}reasoning_content"),

    # -- parameters
    Refusal("OpenAI: new name", "max_tokens", Do.RENAME, r"max_completion_tokens"),
    Refusal("OpenAI: levels", "reasoning_effort", Do.NEAREST,
            r"reasoning[_ ]?effort.{0,200}(?:supported values|must be|one of|expected|available"
            r"|valid)\W+(?P<levels>[^.;{}]{0,160}?\b(?:none|minimal|low|medium|high|xhigh"
            r"|max)\b[^.;{}]{0,120})"),
    Refusal("Mistral", "stream_options", Do.OMIT, r"stream_?options|include_?usage"),
    Refusal("OpenAI (o3)", "stop", Do.OMIT,
            r"""["'`]stop["'`]|\bstop(?: ?sequences?)?\b.{0,40}(?:not (?:supported|allowed|permitted)"""
            r"""|unsupported)|(?:unsupported|unknown|unexpected|extra|invalid)[^.]{0,60}\bstop\b"""),
    Refusal("OpenAI (o3)", "temperature", Do.OMIT, parameter("temperature")),
    Refusal("OpenAI", "top_p", Do.OMIT, parameter("top_p")),
    Refusal("Cerebras", "seed", Do.OMIT, parameter("seed")),
    *rows("reasoning_effort", Do.OMIT, {
        "xAI": r"reasoning[_ ]?effort",
        "Ollama, Google":
        rf"{named(THINKING, within=24)}|only works in thinking mode|{THINKING}.{{0,24}}\b(?:is invalid"
        r"|not enabled)|thinking can.t be disabled|reasoning_config",
    }),
    Refusal("OpenRouter", "reasoning", Do.OMIT, parameter("reasoning")),
    Refusal("Zhipu", "thinking", Do.OMIT, parameter("thinking")),
    Refusal("DashScope", "enable_thinking", Do.OMIT, r"enable_?thinking"),
    Refusal("DashScope", "thinking_budget", Do.OMIT, r"thinking_?budget"),
    Refusal("vLLM", "chat_template_kwargs", Do.OMIT, r"chat_?template_?kwargs"),
    Refusal("OpenAI: cache", "prompt_cache_key", Do.OMIT, r"prompt_?cache_?key"),
    Refusal("any: max_tokens, unknown", "max_tokens", Do.OMIT, parameter("max_tokens", UNKNOWN)),
    Refusal("Mistral, Ollama", "max_completion_tokens", Do.OMIT, parameter("max_completion_tokens", UNKNOWN)),
    Refusal("Groq, Mistral", "history", Do.NO_REASONING,
            rf"{REASONING}.{{0,120}}{NOT}|{NOT}.{{0,120}}{REASONING}"),

    # -- what is only told
    *rows("program", Do.UNBLOCK, {
        "Cloudflare": r"just a moment\.\.\.|cf-mitigated|attention required! \| cloudflare"
        r"|enable javascript and cookies|error code: 10\d\d\b|sorry, you have been blocked",
        "other firewalls": r"vercel security checkpoint|request blocked\.|ddos-guard|incapsula incident"
        r"|you don.t have permission to access .{0,120} on this server",
    }),
    Refusal("TLS", "http", Do.USE_TLS, r"HTTP request.{0,20}HTTPS|illegal (?:status|request) line"),
    Refusal("OpenAI: verification", "account", Do.VERIFY,
            r"organization must be verified|verify (?:your )?organization"),
    Refusal("Azure, Alibaba, Zhipu", "content", Do.REPHRASE,
            r"content_filter|content management policy|responsible_?ai|data_inspection_failed"
            r"|inappropriate.content|content.policy|sensitive content|moderation|safety (?:filter|system"
            r"|policy)|guardrail|敏感"),
    Refusal("Ollama", "memory", Do.FREE_MEMORY,
            r"requires more system memory|out of memory|insufficient memory"),
    *rows("model", Do.LOAD, {
        "llama.cpp, Hugging Face": rf"\A(?!.*{FAILED_LOAD}).*?(?:"
        r"\b(?:model|llm|server|service|engine|endpoint|deployment|backend|worker|replica|instance"
        r"|process)s?\b[^.\n]{0,120}?\b(?:loading|being (?:loaded|started|deployed)|warming[ -]?up"
        r"|starting(?: up)?|booting|initiali[sz]ing|spinning up|scaling (?:up|from)|cold[ -]start"
        r"|not (?:yet )?(?:ready|loaded yet))|\bloading (?:the |a )?(?:\w+ )?model|model_loading"
        r"|\bmodel (?:is )?(?:loading|warming)|scal(?:ing|ed)[ _](?:up|to zero))",
        "Zhipu, Baidu": r"(?:模型|服务)[^。]{0,20}(?:加载中|正在加载|启动中)",
    }),
    Refusal("any: for a moment", "load", Do.TRY_AGAIN,
            r"overloaded|temporar|timed? ?out|unavailable|server[_ ]error|internal error|disconnected"
            r"|capacity|try again|upstream|bad gateway|network.error|system_resource|error, abort"
            r"|访问量过大|繁忙"),
    Refusal("any: model", "model", Do.CHECK_MODEL,
            r"model.{0,120}(?:not found|not exist|does not exist|unknown|not available|no longer|deprecated"
            r"|decommissioned|invalid\b)|(?:unknown|invalid|no such|unsupported) model|model_not_found"
            r"|model id"),
    Refusal("any: key", "key", Do.CHECK_KEY,
            r"(?:api.?key|token|credentials?).{0,30}(?:not valid|invalid|incorrect|missing|expired"
            r"|required)\b|(?:invalid|incorrect|missing|no) .{0,20}(?:api.?key|auth\w*|credentials)"
            r"|unauthorized"),
)
# fmt: on
