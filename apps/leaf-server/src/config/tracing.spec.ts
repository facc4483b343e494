import { loadConfig, type LeafConfig } from './leaf-config';
import { otlpHeaders } from './tracing';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

function tracing(env: NodeJS.ProcessEnv): LeafConfig['tracing'] {
  return loadConfig({ ...ENDPOINT, ...env }).tracing;
}

function fault(env: NodeJS.ProcessEnv): string {
  try {
    loadConfig(env);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It was accepted.');
}

describe('the settings of traces', () => {
  it('name the collector, by the endpoint of traces before the other one', () => {
    expect(tracing({})).toEqual({ collector: 'collector:4318' });
    expect(tracing({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://own/v2?key=1' })).toEqual({ collector: 'own' });
    expect(loadConfig({}).tracing).toBeUndefined();
  });

  it('switch traces off', () => {
    expect(tracing({ OTEL_SDK_DISABLED: 'true' })).toBeUndefined();
    expect(tracing({ OTEL_TRACES_EXPORTER: 'none' })).toBeUndefined();
  });

  it('decode headers', () => {
    const headers = { authorization: 'Bearer a=b,c', 'x-org': '' };
    expect(otlpHeaders('Authorization=Bearer%20a=b%2Cc, x-org=')).toEqual(headers);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://secret@collector'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization secret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=%secret'],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', '-0.5'],
  ])('refuse %s=%s, and show no secret', (name, value) => {
    expect(fault({ [name]: value })).toMatch(new RegExp(`- ${name} must`));
    expect(fault({ [name]: value })).not.toContain('secret');
  });
});
