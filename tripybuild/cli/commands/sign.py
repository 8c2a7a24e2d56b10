"""`tripybuild sign` and `tripybuild verify`: signatures of executables, in files beside them."""

import os
from pathlib import Path
from typing import Annotated

import typer

from tripybuild.cli.command import CommandResult, command

PASSWORD = "TRIPYBUILD_KEY_PASSWORD"  # noqa: S105 - the name of the variable

SignedFile = Annotated[Path, typer.Argument(metavar="EXE", help="An executable.")]
SignatureFile = Annotated[
    Path | None,
    typer.Option("--signature", metavar="FILE", help="The signature; EXE.sig if not given."),
]


@command
def sign_executable(
    executable: SignedFile,
    *,
    key: Annotated[
        Path,
        typer.Option(
            metavar="PEM",
            help="The private key, on P-256, P-384 or P-521; TRIPYBUILD_KEY_PASSWORD opens it.",
        ),
    ],
    certificate: Annotated[
        Path | None,
        typer.Option(metavar="PEM", help="The certificate of the key; the signature holds it."),
    ] = None,
    chain: Annotated[
        list[Path] | None,
        typer.Option(metavar="PEM", help="A certificate on the way to the root; repeatable."),
    ] = None,
    signature: SignatureFile = None,
) -> CommandResult:
    """Sign an executable with a private key."""
    from tripybuild.artifact import container, signatures  # noqa: PLC0415

    with container.open(executable) as opened:  # what is damaged is not vouched for
        opened.verify()
    secret = os.environ.get(PASSWORD)
    given = signatures.SigningKey(key, secret, certificate, chain or ())
    path = signatures.sign(executable, given, signature)
    text = f"Signed `{executable}` in `{path}`"
    return CommandResult(remark=text, data={"path": path.as_posix()})


@command
def verify_executable(
    executable: SignedFile,
    *,
    key: Annotated[
        Path,
        typer.Option(
            metavar="PEM", help="What is trusted: a public key, or the root of certificates."
        ),
    ],
    signature: SignatureFile = None,
) -> CommandResult:
    """Verify the signature of an executable."""
    from tripybuild.artifact import container, signatures  # noqa: PLC0415

    identity = signatures.verify(executable, key, signature)
    with container.open(executable) as opened:
        opened.verify()
    signatures.check_same(executable, identity)
    found = signature or signatures.signature_path(executable)
    text = f"`{executable}` is what `{found}` was made for, with the key of `{key}`"
    data = {"path": executable.as_posix(), "signature": found.as_posix(), "verified": True}
    return CommandResult(remark=text, data=data)
