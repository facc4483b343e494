import { policyOf } from '@leaf-ids/registry';
import type { Environment, VariableName } from './variables';

/** Variables without a default, derived or not. */
type Optional =
  | 'LEAF_ADMIN_TOKEN'
  | 'LEAF_ADMIN_TOKEN_FILE'
  | 'LEAF_TAKER_TOKENS'
  | 'LEAF_TAKER_TOKENS_FILE'
  | 'LEAF_TAKER_QUOTAS'
  | 'LEAF_WORKER_TOKENS'
  | 'LEAF_WORKER_TOKENS_FILE'
  | 'LEAF_CLUSTER_TOKEN'
  | 'LEAF_CLUSTER_TOKEN_FILE'
  | 'LEAF_DATABASE_URL_FILE'
  | 'LEAF_DATABASE_URLS'
  | 'LEAF_DATABASE_TAGS'
  | 'LEAF_ZOOKEEPER'
  | 'LEAF_ZOOKEEPER_AUTH'
  | 'LEAF_ETCD_ENDPOINTS'
  | 'LEAF_ETCD_AUTH'
  | 'LEAF_ETCD_TLS_CA_FILE'
  | 'LEAF_ETCD_TLS_CERT_FILE'
  | 'LEAF_ETCD_TLS_KEY_FILE'
  | 'KUBERNETES_SERVICE_HOST'
  | 'LEAF_KUBERNETES_DIR'
  | 'LEAF_KUBERNETES_POD_INDEX'
  | 'LEAF_PROPERTIES_FILE'
  | 'LEAF_TRUSTED_PROXIES'
  | 'LEAF_MANAGEMENT_PORT'
  | 'LEAF_MANAGEMENT_HOST'
  | 'LEAF_RESP_PORT'
  | 'LEAF_RESP_TLS_CERT_FILE'
  | 'LEAF_RESP_TLS_KEY_FILE'
  | 'OTEL_EXPORTER_OTLP_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  | 'OTEL_EXPORTER_OTLP_HEADERS';
/** The values of everything that has a default. */
export type Resolved = { readonly [Name in Exclude<VariableName, Optional>]: NonNullable<Environment[Name]> } & {
  readonly [Name in Optional]?: NonNullable<Environment[Name]>;
};

export function horizonOf(values: Resolved): number {
  return policyOf(values.LEAF_SNOWFLAKE_REGISTRY) === 'pool'
    ? values.LEAF_SNOWFLAKE_LEASE_TTL_MS
    : values.LEAF_SNOWFLAKE_HORIZON_MS;
}
