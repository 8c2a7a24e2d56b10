"""Signatures of executables: files beside them that say whose key vouches for their bytes.

The format is that of the OpenSSF's `model-signing`: a Sigstore bundle with an in-toto statement,
by a private key of an elliptic curve, with or without a certificate. Nothing is asked of a network.

Invariant: formats before version 1.0, which the package still reads, are refused, since they do not
say what they cover.
"""

import base64
import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tripybuild.artifact.file_errors import refuse_pipe, unreadable_error
from tripybuild.errors.diagnostics import Diagnostic, DiagnosticError
from tripybuild.process.atomic_write import atomic_write
from tripybuild.process.output_files import check_overwrite

SUFFIX = ".sig"
LARGEST = 1 << 20  # bytes of a signature or a key
BUNDLE = b"application/vnd.dev.sigstore.bundle"
STATEMENT = "https://model_signing/signature/v1.0"
MAKE_KEY = "`openssl ecparam -name prime256v1 -genkey -noout -out key.pem`"
CERTIFICATE = b"-----BEGIN CERTIFICATE-----"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """What a file is signed with, as PEM files.

    Attributes:
        private: A private key on P-256, P-384 or P-521.
        password: Of the private key, where it has one; only without a certificate.
        certificate: The certificate of its public key.
        chain: The certificates between that one and the root.
    """

    private: Path
    password: str | None = None
    certificate: Path | None = None
    chain: Sequence[Path] = ()


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """What tells a file from one that is put or written in its place."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> "FileIdentity":
        """The identity of the file that is there now.

        Raises:
            DiagnosticError: There is none, or it is no regular file.
        """
        try:
            refuse_pipe(path)
            found = path.stat()
        except FileNotFoundError as error:
            message = f"there is no file `{path}`"
            raise DiagnosticError(Diagnostic("file-not-found", message)) from error
        except OSError as error:
            raise unreadable_error(path, error) from error
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def signature_path(path: Path) -> Path:
    """Where the signature of a file is, if nothing else is said: `model.tpb.sig`."""
    return path.with_name(path.name + SUFFIX)


def looks_like_signature(path: Path) -> bool:
    """Whether a file is a bundle of Sigstore, whole or not, which another one may replace."""
    with path.open("rb") as stream:
        begin = stream.read(LARGEST)
    return begin.lstrip().startswith(b"{") and BUNDLE in begin


def sign(path: Path, key: SigningKey, signature: Path | None = None) -> Path:
    """Sign a file, and give the path of its signature.

    Args:
        path: The file.
        key: What it is signed with.
        signature: Where to; a signature that is there is replaced, and no other file.

    Raises:
        DiagnosticError: The package is not installed, or a file cannot be read or written.
    """
    library, target = _library(), signature or signature_path(path)
    FileIdentity.of(path)
    check_overwrite(target, looks_like_signature, "a signature", "--signature")
    config = library.signing.Config()
    if key.certificate is None:
        secret = None if key.password is None else key.password.encode()
        with _report_key(key.private):
            config.use_elliptic_key_signer(private_key=key.private, password=secret)
    else:
        with _report_key(key.private, key.certificate, *key.chain):
            config.use_certificate_signer(
                private_key=key.private,
                signing_certificate=key.certificate,
                # version 1.1 of the package cannot read an empty chain
                certificate_chain=list(key.chain or [key.certificate]),
            )
    with tempfile.TemporaryDirectory() as folder, _report_unreadable(path):
        made = Path(folder) / target.name
        config.sign(path.resolve(), made)
        content = made.read_bytes()
    with atomic_write(target) as stream:
        stream.write(content)
    return target


def verify(path: Path, trusted: Path, signature: Path | None = None) -> FileIdentity:
    """Hold a file against its signature.

    Args:
        path: The file.
        trusted: The public key of the signer, or the root certificate of all signers.
        signature: Where the signature is, if it is not beside the file.

    Returns:
        The file that was looked at; one that is read later is the same if this is.

    Raises:
        DiagnosticError: It is not signed with the key, or is not the file that was signed.
    """
    library, found = _library(), signature or signature_path(path)
    before = FileIdentity.of(path)
    is_certificate = CERTIFICATE in _content(trusted)
    name = _check_form(found, is_certificate=is_certificate)
    config = library.verifying.Config()
    with _report_key(trusted):
        if is_certificate:
            config.use_certificate_verifier(certificate_chain=[trusted])
        else:
            config.use_elliptic_key_verifier(public_key=trusted)
    _compare(lambda: config.verify(path.resolve(), found), path, found, trusted, name)
    check_same(path, before)
    return before


def check_same(path: Path, before: FileIdentity) -> None:
    """Refuse a file that is not the one that was verified.

    Raises:
        DiagnosticError: It was replaced or written to.
    """
    if FileIdentity.of(path) != before:
        message = f"`{path}` changed while it was verified and read"
        hint = "verify it where nothing else writes to it"
        raise DiagnosticError(Diagnostic("signature-mismatch", message, hint=hint))


def _library() -> Any:
    try:
        import model_signing  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = "signatures need the package `model-signing`, which is not installed"
        hint = "install it: `pip install 'tripybuild[signing]'`"
        raise DiagnosticError(Diagnostic("not-installed", message, hint=hint)) from error
    return model_signing


def _content(path: Path) -> bytes:
    """The content of a small file.

    Raises:
        DiagnosticError: It cannot be read.
    """
    if FileIdentity.of(path).size > LARGEST:
        message = f"`{path}` has more than {LARGEST:,} bytes"
        raise DiagnosticError(Diagnostic("key-unusable", message))
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable_error(path, error) from error


@contextlib.contextmanager
def _report_key(*paths: Path) -> Iterator[None]:
    """Say of keys and certificates why they cannot be used."""
    for path in paths:
        _content(path)
    try:
        yield
    except (ValueError, TypeError, AttributeError) as error:
        named = ", ".join(f"`{path}`" for path in paths)
        message = f"{named} cannot be used: {_first_line(error)}"
        hint = f"keys are PEM files on P-256, P-384 or P-521: {MAKE_KEY}"
        raise DiagnosticError(Diagnostic("key-unusable", message, hint=hint)) from error


def _check_form(path: Path, *, is_certificate: bool) -> str:
    """Check that a signature is one of version 1.0, and give the name that its file had.

    Raises:
        DiagnosticError: There is none, or it has another form.
    """
    try:
        text = _content(path)
    except DiagnosticError as error:
        if error.diagnostics[0].code != "file-not-found":
            raise
        message = f"there is no signature `{path}`"
        hint = "`tripybuild sign` writes it; copy it, too, or name it by `--signature`"
        raise DiagnosticError(Diagnostic("signature-missing", message, hint=hint)) from error
    try:
        bundle = json.loads(text)
        statement = json.loads(base64.b64decode(bundle["dsseEnvelope"]["payload"]))
        material = bundle["verificationMaterial"]
        by_certificate = bool(material.get("x509CertificateChain"))
        (subject,) = statement["subject"]
        name, kind = str(subject["name"]), statement["predicateType"]
        named = by_certificate or bool(material["publicKey"]["hint"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _malformed(path, error) from error
    if kind != STATEMENT or not named:
        raise _malformed(path, ValueError("it is of a version before 1.0"))
    if by_certificate != is_certificate:
        made, wanted = ("certificate", "root certificate"), ("key", "public key")
        by, other = made if by_certificate else wanted
        message = f"`{path}` was made with a {by}, and what is trusted is none"
        hint = f"give the {other} of the signer"
        raise DiagnosticError(Diagnostic("signature-untrusted", message, hint=hint))
    return name


def _compare(
    work: Callable[[], None], path: Path, signature: Path, trusted: Path, name: str
) -> None:
    """Let the package verify, and say what it found.

    Raises:
        DiagnosticError: The signature does not hold.
    """
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - an extra
    from OpenSSL.crypto import X509StoreContextError  # noqa: PLC0415 - the same

    try:
        with _report_unreadable(path):
            work()
    except (InvalidSignature, X509StoreContextError) as error:
        raise _untrusted(signature, trusted, str(error)) from error
    except ValueError as error:
        if str(error).startswith("Signature mismatch"):
            message = f"`{path}` is not the file that `{signature}` is of"
            notes = (f"the file was called `{name}` when it was signed",)
            hint = "do not run it; get both files from their source again"
            raise DiagnosticError(
                Diagnostic("signature-mismatch", message, notes=notes, hint=hint)
            ) from error
        if str(error).startswith(("Key mismatch", "Signing certificate")):
            raise _untrusted(signature, trusted, "") from error
        raise _malformed(signature, error) from error
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise _malformed(signature, error) from error


@contextlib.contextmanager
def _report_unreadable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unreadable_error(path, error) from error


def _untrusted(signature: Path, trusted: Path, reason: str) -> DiagnosticError:
    notes = (reason,) if reason else ()
    message = f"`{signature}` was not made with the key of `{trusted}`, or was altered"
    hint = "do not run the executable; ask its maker for the right key over another way"
    return DiagnosticError(Diagnostic("signature-untrusted", message, notes=notes, hint=hint))


def _malformed(signature: Path, error: Exception) -> DiagnosticError:
    message = f"`{signature}` is no signature: {_first_line(error)}"
    hint = "`tripybuild sign` writes one, as does `model_signing sign`"
    return DiagnosticError(Diagnostic("signature-malformed", message, hint=hint))


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).partition("\n")[0]
