import { formatWorkerRange, isWorkerIn, parseWorkerRange, workersIn, workersOfDatacenter } from './worker-range';

it.each([
  ['96-127', { first: 96, last: 127 }, 32],
  ['7', { first: 7, last: 7 }, 1],
  ['0-9999999', { first: 0, last: 9_999_999 }, 10_000_000],
])('The range %s', (text, range, size) => {
  expect([parseWorkerRange(text), workersIn(range), formatWorkerRange(range)]).toEqual([range, size, text]);
});

it.each(['', '-', '1-', '-1', '2-1', 'a', '1-b', '1 - 2', '10000000', '1-10000000', '1-2-3', 'x1-2'])(
  'Refuses the range %j',
  (text) => expect(() => parseWorkerRange(text)).toThrow('96-127'),
);

it('A range has its first and its last worker ID', () => {
  const range = { first: 2, last: 4 };
  expect([1, 2, 3, 4, 5].filter((workerId) => isWorkerIn(range, workerId))).toEqual([2, 3, 4]);
});

it('Data centers share the worker IDs of a layout', () => {
  expect([0, 1, 31].map((id) => workersOfDatacenter(id, { workerBits: 10, datacenterBits: 5 }))).toEqual([
    { first: 0, last: 31 },
    { first: 32, last: 63 },
    { first: 992, last: 1023 },
  ]);
  expect(workersOfDatacenter(0, { workerBits: 10 })).toEqual({ first: 0, last: 1023 });
});
