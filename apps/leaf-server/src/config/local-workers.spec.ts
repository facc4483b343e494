import { localWorkerFaults } from './registry-settings';

describe('The map of workers', () => {
  it('may leave each server room for its processes', () => {
    expect(localWorkerFaults({ 'a:1': 0, 'b:1': 2, 'c:1': 1022 }, 2, 1023)).toEqual([]);
    expect(localWorkerFaults({ '*': 0 }, 128, 1023)).toEqual([]);
    expect(localWorkerFaults({ 'a:1': 0, 'b:1': 1 }, 1, 1023)).toEqual([]);
  });

  it('must not give a process the worker ID of another server, and says what would be right', () => {
    const [fault, ...others] = localWorkerFaults({ 'b:1': 4, 'a:1': 1, 'c:1': 6 }, 4, 1023);
    expect(others).toEqual([]);
    expect(fault).toContain('gives b:1 worker ID 4, which a process of a:1 uses');
    expect(fault).toContain('LEAF_PROCESSES=4 takes 1 to 4');
    expect(fault).toContain('{"a:1":0,"b:1":4,"c:1":8}');
  });

  it('must not reach beyond the bits', () => {
    expect(localWorkerFaults({ '*': 1023 }, 1, 1023)).toEqual([]);
    expect(localWorkerFaults({ '*': 1024 }, 1, 1023)).toEqual([expect.stringContaining('worker ID 1024')]);
    expect(localWorkerFaults({ '*': 1022 }, 2, 1023)).toEqual([]);
    expect(localWorkerFaults({ '*': 1022 }, 3, 1023)).toEqual([
      expect.stringContaining('worker IDs up to 1024 with 3 processes'),
    ]);
  });
});
