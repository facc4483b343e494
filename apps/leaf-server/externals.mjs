/** Packages that the bundle of the server does not contain: they have native code, or only some settings need them. */
export const EXTERNALS = [
  'libsql',
  'mysql2',
  'pg',
  'zookeeper',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-base',
  // Its files are served, not loaded.
  'swagger-ui-dist',
];
