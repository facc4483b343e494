import type * as Api from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { LeafError } from '@leaf-ids/core';
import { DEFAULT_SERVICE_NAME } from '../config/tracing';
import { serverVersion } from '../config/version';

const PACKAGES = ['api', 'sdk-trace-base', 'resources', 'exporter-trace-otlp-http'].map(
  (name) => `@opentelemetry/${name}`,
);

/** The parts of OpenTelemetry that one server uses; nothing is registered globally. */
export interface Sdk {
  readonly api: typeof Api;
  readonly tracer: Api.Tracer;
  /** Delivers what is left. */
  shutdown(): Promise<void>;
}

/**
 * Loads the packages, which nobody else does. They read their standard variables from the environment.
 *
 * @param onExport told of each delivery: undefined, or why it failed
 * @throws LeafError `LEAF_CONFIG_INVALID` when one is not installed
 */
export async function loadSdk(onExport: (error: Error | undefined) => void): Promise<Sdk> {
  requirePackages(PACKAGES);
  const [api, sdk, { detectResources, envDetector, resourceFromAttributes }, { OTLPTraceExporter }] = await Promise.all(
    [
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ],
  );
  const version = serverVersion();
  const own = resourceFromAttributes({ 'service.name': DEFAULT_SERVICE_NAME, 'service.version': version });
  const provider = new sdk.BasicTracerProvider({
    resource: own.merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new sdk.BatchSpanProcessor(watched(new OTLPTraceExporter(), onExport))],
  });
  return { api, tracer: provider.getTracer('leaf-server', version), shutdown: () => provider.shutdown() };
}

/** @throws LeafError `LEAF_CONFIG_INVALID` when one of them is not installed */
export function requirePackages(names: readonly string[]): void {
  for (const name of names) {
    try {
      require.resolve(name);
    } catch (error) {
      throw new LeafError(
        'LEAF_CONFIG_INVALID',
        `Traces need the package ${name}, which cannot be loaded: npm install ${names.join(' ')}. Or do without: take OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_EXPORTER_OTLP_TRACES_ENDPOINT away.`,
        { cause: error },
      );
    }
  }
}

function watched(exporter: SpanExporter, onExport: (error: Error | undefined) => void): SpanExporter {
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        onExport(result.error);
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  };
}
