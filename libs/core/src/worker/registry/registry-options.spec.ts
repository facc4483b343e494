import {
  leaseFaults,
  rangeFaults,
  type WorkerRegistryOptions,
  workerRegistryRule,
  workersOf,
} from './registry-options';

const OPTIONS: WorkerRegistryOptions = {
  ...{ name: 'database', reportMs: 3000, leaseTtlMs: 8000, maxClockOffsetMs: 5000, layout: '41,10,12@0' },
  ...{ maxWorkerId: 1023, remembers: false },
};

describe('the settings of a lease', () => {
  const faults = (change: Partial<WorkerRegistryOptions>): string[] =>
    leaseFaults({ ...OPTIONS, ...change }, 'snowflake').map(({ path, fault }) => `${path} ${fault.split(/[,:]/)[0]}`);

  it.each<Partial<WorkerRegistryOptions>>([
    {},
    { reportMs: 1, leaseTtlMs: 5001 },
    { limits: { reportMs: 60_000, clockOffsetMs: 0 }, reportMs: 60_000, leaseTtlMs: 120_000, maxClockOffsetMs: 0 },
    { remembers: true, reportMs: 60_000, leaseTtlMs: 120_000, maxClockOffsetMs: 60_000 },
    { remembers: true, reportMs: 1, leaseTtlMs: 2 },
  ])('can be %j', (change) => expect(faults(change)).toStrictEqual([]));

  it.each<[Partial<WorkerRegistryOptions>, string[]]>([
    [{ leaseTtlMs: 7999 }, ['snowflake.leaseTtlMs (7999) must be at least 8000']],
    [{ maxClockOffsetMs: 5001 }, ['snowflake.maxClockOffsetMs (5001) must be at most 5000']],
    [
      { reportMs: 3001 },
      ['snowflake.reportMs (3001) must be at most 3000', 'snowflake.leaseTtlMs (8000) must be at least 8001'],
    ],
    [
      { remembers: true, reportMs: 3000, leaseTtlMs: 5999 },
      ['snowflake.leaseTtlMs (5999) must be at least twice the report interval (3000)'],
    ],
  ])('cannot be %j', (change, expected) => expect(faults(change)).toEqual(expected));

  it('have a reason for each bound', () => {
    const texts = leaseFaults({ ...OPTIONS, reportMs: 5000 }, '').map(({ path, fault }) => `${path} ${fault}`);
    expect(texts).toEqual([
      'leaseTtlMs (8000) must be at least twice the report interval (5000), so that the lease survives one failed report',
      'reportMs (5000) must be at most 3000: in a registry that was emptied, servers wait for each other by this bound',
      'leaseTtlMs (8000) must be at least 10000, the clock offset to allow for (5000) plus the report interval: otherwise servers would lose their worker IDs when the registry is emptied',
    ]);
  });
});

describe('the worker IDs of a server', () => {
  it('are all of the layout, or a range of them', () => {
    expect(workersOf(OPTIONS)).toEqual({ first: 0, last: 1023 });
    expect(workersOf({ ...OPTIONS, workers: { first: 7, last: 9 } })).toEqual({ first: 7, last: 9 });
  });

  it.each([
    [0, 1023, true],
    [1023, 1023, true],
    [0, 1024, false],
    [8, 7, false],
  ])('can be %d to %d: %s', (first, last, fits) => {
    const faults = rangeFaults({ ...OPTIONS, workers: { first, last } }, 'workers');
    const fault = `must be in the worker IDs of the layout, 0 to 1023, not ${first}-${last}`;
    expect(faults).toEqual(fits ? [] : [{ path: 'workers', fault }]);
  });
});

describe('the options of a registry', () => {
  const paths = (change: object): string[] =>
    workerRegistryRule({ ...OPTIONS, ...change }, 'registry').map(({ path }) => path);

  it('are complete', () => {
    expect(paths({ workers: { first: 0, last: 1 }, limits: { reportMs: 3000, clockOffsetMs: 5000 } })).toStrictEqual(
      [],
    );
    for (const name of ['reportMs', 'leaseTtlMs', 'maxClockOffsetMs', 'layout', 'maxWorkerId', 'remembers'])
      expect(paths({ [name]: undefined })).toEqual([`registry.${name}`]);
    expect(paths({ workers: {}, limits: {} })).toEqual([
      ...['registry.workers.first', 'registry.workers.last', 'registry.limits.reportMs'],
      'registry.limits.clockOffsetMs',
    ]);
  });

  it.each<[object, string]>([
    [{ name: '' }, 'name'],
    [{ reportMs: 0 }, 'reportMs'],
    [{ leaseTtlMs: 1 }, 'leaseTtlMs'],
    [{ maxClockOffsetMs: -1 }, 'maxClockOffsetMs'],
    [{ layout: '' }, 'layout'],
    [{ maxWorkerId: -1 }, 'maxWorkerId'],
    [{ remembers: 'no' }, 'remembers'],
    [{ workers: { first: -1, last: 1 } }, 'workers.first'],
    [{ workers: { first: 0, last: -1 } }, 'workers.last'],
    [{ limits: { reportMs: 0, clockOffsetMs: 0 } }, 'limits.reportMs'],
    [{ limits: { reportMs: 1, clockOffsetMs: -1 } }, 'limits.clockOffsetMs'],
    [{ ttl: 5 }, 'ttl'],
    [{ workers: { first: 0, last: 1024 } }, 'workers'],
    [{ leaseTtlMs: 7999 }, 'leaseTtlMs'],
  ])('cannot have %j', (change, name) => expect(paths(change)).toEqual([`registry.${name}`]));

  it('fit each other where each one is valid', () => {
    expect(paths({ leaseTtlMs: 5999, maxWorkerId: 0, workers: { first: 0, last: 1 } })).toEqual([
      ...['registry.leaseTtlMs', 'registry.leaseTtlMs', 'registry.workers'],
    ]);
  });
});
