import { type Metric, Registry } from 'prom-client';
import type { HistogramSnapshot } from '@leaf/core';

type Labels = Readonly<Record<string, string | number>>;

/** One line of a family. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

export interface HistogramSample {
  readonly labels: Labels;
  /** Of milliseconds. */
  readonly times: HistogramSnapshot;
}

/** As the registry of prom-client takes it, and gives it. */
export interface Line extends Sample {
  readonly metricName?: string;
}

/** A family with all that it says now. */
export interface ReadFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly Line[];
}

/** What several processes say of one thing: the value to take, in place of one for each. */
export type Shared = 'least' | 'most';

/** The families of metrics of a server. What they say is counted elsewhere, and read when it is asked for. */
export class Families {
  readonly registry = new Registry();
  /** Those that tell of the server, not of one of its processes. */
  readonly shared = new Map<string, Shared>();

  /** @param read what to say now; undefined: nothing. It must never say less than before. */
  counter(name: string, help: string, read: () => number | undefined | readonly Sample[]): void {
    this.add(name, help, 'counter', () => toLines(read()));
  }

  /**
   * @param read what to say now; undefined: nothing
   * @param shared left out: each process of a server has a value of its own
   */
  gauge(name: string, help: string, read: () => number | undefined | readonly Sample[], shared?: Shared): void {
    this.add(name, help, 'gauge', () => toLines(read()));
    if (shared !== undefined) this.shared.set(name, shared);
  }

  /** All families as they are now. */
  read(): Promise<ReadFamily[]> {
    return this.registry.getMetricsAsJSON() as unknown as Promise<ReadFamily[]>;
  }

  /** In seconds, as is the custom. */
  histogram(name: string, help: string, read: () => readonly HistogramSample[]): void {
    this.add(name, help, 'histogram', () => read().flatMap((sample) => bucketLines(name, sample)));
  }

  /** The kinds of prom-client count by themselves; its registry needs no more than this of them. */
  add(name: string, help: string, type: ReadFamily['type'], read: () => readonly Line[]): void {
    const family = { name, help, type, get: () => Promise.resolve({ name, help, type, values: read() }) };
    this.registry.registerMetric(family as unknown as Metric);
  }
}

function toLines(said: number | undefined | readonly Sample[]): Line[] {
  if (said === undefined) return [];
  return typeof said === 'number' ? [{ labels: {}, value: said }] : [...said];
}

function bucketLines(name: string, { labels, times: { buckets, count, sum } }: HistogramSample): Line[] {
  const metricName = `${name}_bucket`;
  return [
    ...buckets.map(({ bound, count: value }) => ({ metricName, labels: { ...labels, le: bound / 1000 }, value })),
    { metricName, labels: { ...labels, le: '+Inf' }, value: count },
    { metricName: `${name}_sum`, labels, value: sum / 1000 },
    { metricName: `${name}_count`, labels, value: count },
  ];
}
