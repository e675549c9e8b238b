"""Connection to Kafka."""

from pathlib import Path

from pydantic import BaseModel, Field, SecretStr

from deploy.settings.defaults import DEV_KAFKA_PORT, HTTP_URL
from streams.kafka.security import Extensions, Mechanism, Protocol, Security

PAIRS = r"^[A-Za-z]+=[^,=\s]+(,[A-Za-z]+=[^,=\s]+)*$"  # names as RFC 7628 has them
BROKERS = r"^[^\s,:/]+:\d{1,5}(,[^\s,:/]+:\d{1,5})*$"


class KafkaFields(BaseModel):
    bootstrap_servers: str = Field(
        f"127.0.0.1:{DEV_KAFKA_PORT}", pattern=BROKERS, description="Kafka brokers, host:port, separated by commas"
    )
    kafka_security_protocol: Protocol = Field("PLAINTEXT", description="security protocol of connections to Kafka")
    kafka_sasl_mechanism: Mechanism = Field("SCRAM-SHA-512", description="with SASL_SSL: mechanism of authentication")
    kafka_username: str | None = Field(
        None, min_length=1, description="with SASL_SSL: user name; with OAUTHBEARER, the id of the OAuth client"
    )
    kafka_password: SecretStr | None = Field(
        None, min_length=1, description="with SASL_SSL: password; with OAUTHBEARER, the secret of that client"
    )
    kafka_oauth_token_url: str | None = Field(
        None, pattern=HTTP_URL, description="with OAUTHBEARER: token endpoint of the OpenID provider"
    )
    kafka_oauth_scope: str | None = Field(
        None, min_length=1, description="with OAUTHBEARER: requested scopes, separated by spaces"
    )
    kafka_oauth_audience: str | None = Field(
        None, min_length=1, description="with OAUTHBEARER: requested audience, if the provider needs one"
    )
    kafka_oauth_extensions: str | None = Field(
        None,
        pattern=PAIRS,
        description="with OAUTHBEARER: SASL extensions for the brokers, NAME=VALUE separated by commas",
    )
    kafka_oauth_ca_file: Path | None = Field(
        None, description="with OAUTHBEARER: PEM file of the token endpoint's authorities, instead of the system's"
    )
    kafka_aws_region: str | None = Field(
        None, pattern=r"^[a-z0-9-]+$", description="with AWS_MSK_IAM: region of the cluster"
    )
    kafka_ca_file: Path | None = Field(
        None, description="with SSL or SASL_SSL: PEM file of the trusted authorities, instead of the system's"
    )
    kafka_certificate_file: Path | None = Field(
        None, description="with SSL or SASL_SSL: PEM file of the client certificate, if brokers require one"
    )
    kafka_key_file: Path | None = Field(None, description="PEM file of the client certificate's private key")
    kafka_key_password: SecretStr | None = Field(
        None, min_length=1, description="password of that private key, if it is encrypted"
    )

    def security(self) -> Security:
        return Security(
            protocol=self.kafka_security_protocol,
            mechanism=self.kafka_sasl_mechanism,
            username=self.kafka_username,
            password=secret_value(self.kafka_password),
            ca_file=self.kafka_ca_file,
            certificate_file=self.kafka_certificate_file,
            key_file=self.kafka_key_file,
            key_password=secret_value(self.kafka_key_password),
            token_url=self.kafka_oauth_token_url,
            scope=self.kafka_oauth_scope,
            audience=self.kafka_oauth_audience,
            extensions=pairs(self.kafka_oauth_extensions),
            token_ca_file=self.kafka_oauth_ca_file,
            aws_region=self.kafka_aws_region,
        )


def secret_value(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


def pairs(text: str | None) -> Extensions:
    return (
        ()
        if text is None
        else tuple((name, value) for name, _, value in (each.partition("=") for each in text.split(",")))
    )
