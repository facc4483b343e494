import type { FailingTags } from '@leaf-ids/core/internal';
import { LeafError, type PeriodicTaskSnapshot, type SegmentStore } from '@leaf-ids/core';
import { FakeClock } from '@leaf-ids/core/testing';
import type { SegmentService } from '../segment/segment.service';
import type { SnowflakeService } from '../snowflake/snowflake.service';
import type { Health, DatabaseProbe } from './health';
import { type LeafStatus, readinessOf, statusOf, type StatusSources } from './status';

/** How each part was found. */
interface Found {
  readonly refresh?: Partial<PeriodicTaskSnapshot>;
  readonly failing?: FailingTags;
  readonly pinged?: Health;
  readonly refusal?: LeafError;
  readonly report?: string;
  readonly degradedReason?: string;
  readonly lost?: string;
}

/** What is read of all tags. */
const COUNTS = { tagCount: 1, issued: 0, pausedTags: () => [], totals: { times: { snapshot: () => ({}) } } };

function sourcesWith(
  { refresh, failing, pinged, refusal, report, degradedReason, lost }: Found,
  counts = {},
): StatusSources {
  const refreshed = { lastSuccessAt: 1, failures: 0, ...refresh };
  const segments = { generator: { ...counts, failing, refresh: { snapshot: () => refreshed } } };
  const lease = { registry: 'memory', report: { lastError: report, failures: 0 }, degradedReason, lost };
  const snowflake = {
    ...{ layout: {}, workers: {}, leaseTtlMs: 1, generator: { refusal: () => refusal } },
    snapshot: () => ({ lease, generator: {}, maintenance: {} }),
  };
  return {
    clock: new FakeClock(),
    segments: segments as unknown as SegmentService,
    numbers: undefined,
    tagEnds: undefined,
    store: { description: 'memory' } as SegmentStore,
    probe: { health: pinged } as DatabaseProbe,
    snowflake: snowflake as unknown as SnowflakeService,
  };
}

function statusWith(found: Found): LeafStatus {
  return statusOf(sourcesWith(found, COUNTS));
}

/** Of segments, database, snowflake and registry. */
function healthOf(found: Found): (string | undefined)[][] {
  const { segment, database, snowflake, registry } = statusWith(found);
  return [segment, database, snowflake, registry].map((part) => [
    part?.health.status,
    ...[part?.health.code, part?.health.message].filter((text) => text !== undefined),
  ]);
}

describe('The status of a runtime', () => {
  const up = ['up'];
  const refusal = new LeafError('LEAF_LEASE_LOST', 'a twin');

  it.each<[string, Found, (string | undefined)[][]]>([
    ['all is well', {}, [up, up, up, up]],
    [
      'a refresh fails after one that did not',
      { refresh: { lastError: 'away' } },
      [['degraded', 'away'], ['down', 'away'], up, up],
    ],
    [
      'no refresh has succeeded yet',
      { refresh: { lastError: 'away', lastSuccessAt: undefined } },
      [['down', 'away'], ['down', 'away'], up, up],
    ],
    [
      'the database does not answer, and no refresh was due since',
      { pinged: { status: 'down', message: 'gone' } },
      [['degraded', 'gone'], ['down', 'gone'], up, up],
    ],
    [
      'the database answers again, and no refresh was due since',
      { pinged: { status: 'up' }, refresh: { lastError: 'away' } },
      [['degraded', 'away'], up, up, up],
    ],
    [
      'a used tag refuses its calls, and no refresh was due since',
      { failing: { tag: 'order', count: 1, error: new Error('away') } },
      [
        [
          'degraded',
          'The tag "order" refuses its calls: no IDs are left in memory, and the database allocates none: away',
        ],
        up,
        up,
        up,
      ],
    ],
    [
      'several used tags refuse their calls, and the refresh fails, too',
      { failing: { tag: 'order', count: 3, error: new Error('away') }, refresh: { lastError: 'gone' } },
      [
        [
          'degraded',
          'The tag "order" and 2 more refuse their calls: no IDs are left in memory, and the database allocates none: away',
        ],
        ['down', 'gone'],
        up,
        up,
      ],
    ],
    ['a report fails', { report: 'no answer' }, [up, up, ['degraded', 'no answer'], ['degraded', 'no answer']]],
    [
      'the file replaces the registry',
      { degradedReason: 'file' },
      [up, up, ['degraded', 'file'], ['degraded', 'file']],
    ],
    [
      'the clock is behind',
      { refusal: new LeafError('LEAF_CLOCK_BACKWARDS', 'behind') },
      [up, up, ['down', 'LEAF_CLOCK_BACKWARDS', 'behind'], up],
    ],
    [
      'the registry did not answer before the first acquisition',
      { refusal: new LeafError('LEAF_REGISTRY_UNREACHABLE', 'away') },
      [up, up, ['down', 'LEAF_REGISTRY_UNREACHABLE', 'away'], ['down', 'LEAF_REGISTRY_UNREACHABLE', 'away']],
    ],
    ['the lease is lost', { refusal, lost: 'twin' }, [up, up, ['down', 'LEAF_LEASE_LOST', 'a twin'], ['down', 'twin']]],
  ])('when %s', (_case, found, expected) => {
    expect(healthOf(found)).toEqual(expected);
    const { segment, snowflake } = statusWith(found);
    expect(readinessOf(sourcesWith(found))).toEqual({
      segment: { health: segment?.health },
      snowflake: { health: snowflake?.health },
    });
  });
});
