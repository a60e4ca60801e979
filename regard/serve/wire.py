"""What goes over the wire: requests and answers, as JSON and in the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

SEEDS = 2**63 - 1
Token = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class Sample(BaseModel):
    """Draw the answer at random instead of searching for the best one."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float = Field(
        1.0, gt=0, le=100, allow_inf_nan=False, description="below 1 is bolder, above 1 wilder"
    )
    top_k: int | None = Field(None, ge=1, description="draw among the K likeliest symbols only")
    top_p: float | None = Field(
        None, gt=0, le=1, description="draw among the likeliest symbols that make up this share"
    )
    seed: int = Field(1, ge=-SEEDS, le=SEEDS, description="another seed, another draw")


class Ask(BaseModel):
    """A text or a picture to be answered."""

    model_config = ConfigDict(extra="forbid")

    model: str | None = Field(
        None, description="which model; may be left out where only one is served"
    )
    text: str | None = Field(None, description="the input of a model that reads")
    image: str | None = Field(
        None, description="the input of a model that sees: a picture file in base64"
    )
    beam: int | None = Field(None, ge=1, description="width of the beam (default: the model's own)")
    nbest: int = Field(1, ge=1, description="answers to give, best first")
    sample: Sample | None = Field(None, description="draw at random instead of searching")
    prefix: str | list[Token] | None = Field(
        None, description="how the answer must begin: a text, or tokens as answers have them"
    )
    length: int | None = Field(
        None, ge=1, description="symbols that a language model writes on (default: 200)"
    )
    trace: bool = Field(False, description="add where the model looked and what it considered")
    stream: bool = Field(False, description="send server-sent events while the answer comes about")


class Form(BaseModel):
    """The same as a form, with the picture as a file and the sampling fields side by side."""

    model: str | None = None
    text: str | None = None
    image: Annotated[
        bytes | None, Field(json_schema_extra={"type": "string", "format": "binary"})
    ] = None
    beam: int | None = Field(None, ge=1)
    nbest: int | None = Field(None, ge=1)
    temperature: float | None = Field(None, gt=0, le=100)
    top_k: int | None = Field(None, ge=1)
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = Field(None, ge=-SEEDS, le=SEEDS)
    prefix: str | None = Field(None, description="a text, or a JSON list of tokens")
    length: int | None = Field(None, ge=1)
    trace: bool | None = None
    stream: bool | None = None


class Answer(BaseModel):
    """One thing that the model says."""

    text: str
    tokens: list[str]
    log_prob: float
    score: float = Field(description="what the search ranks by")
    complete: bool = Field(description="false where the length limit ended it")


class Answers(BaseModel):
    """What the model says to one input, best first."""

    model: str
    answers: list[Answer]
    unknown: list[str] = Field(description="parts of the input that the model has no symbol for")
    seconds: float
    trace: dict[str, Any] | None = Field(
        None, description="of the best answer: tokens, weights, alternatives, the search tree"
    )


class Begun(BaseModel):
    """The event `partial` of a stream: the best beginning of an answer so far."""

    text: str
    tokens: list[str]
    settled: int = Field(description="how many of the tokens will not change any more")
    log_prob: float
    attention: list[list[float]] | None = Field(
        description="for each token the weights of the source, where a trace is asked for"
    )
    source: dict[str, Any] | None = Field(
        None, description="what the weights lie on, as in a trace: tokens, or the grid of a picture"
    )


class Bounds(BaseModel):
    """What a request may ask of a model."""

    characters: int
    beam: int
    nbest: int
    bytes: int
    pixels: int
    length: int


class Facts(BaseModel):
    """What is known of a model that is served."""

    name: str
    about: str
    input: str = Field(description="text or picture")
    output: str = Field(description="answer or continuation")
    attention: bool
    examples: list[str]
    beam: int
    scores: dict[str, float]
    limits: Bounds


class Models(BaseModel):
    """All models that are served."""

    models: list[Facts]


class State(BaseModel):
    """How the server is."""

    status: str
