import { loadConfig } from './leaf-config';

function load(workers: Readonly<Record<string, number>>, processes: number): void {
  loadConfig({ LEAF_LOCAL_WORKERS: JSON.stringify(workers), LEAF_PROCESSES: String(processes) });
}

describe('The map of workers', () => {
  it('may leave each server room for its processes', () => {
    load({ 'a:1': 0, 'b:1': 2, 'c:1': 1022 }, 2);
    load({ '*': 0 }, 128);
    load({ 'a:1': 0, 'b:1': 1 }, 1);
  });

  it('must not give a process the worker ID of another server, and says what would be right', () => {
    const act = (): void => load({ 'b:1': 4, 'a:1': 1, 'c:1': 6 }, 4);
    expect(act).toThrow('gives b:1 worker ID 4, which a process of a:1 uses');
    expect(act).toThrow('LEAF_PROCESSES=4 takes 1 to 4');
    expect(act).toThrow('{"a:1":0,"b:1":4,"c:1":8}');
  });

  it('must not reach beyond the bits', () => {
    load({ '*': 1023 }, 1);
    expect(() => load({ '*': 1024 }, 1)).toThrow('LEAF_LOCAL_WORKERS["*"] must be a whole number from 0 to 1023');
    load({ '*': 1022 }, 2);
    expect(() => load({ '*': 1022 }, 3)).toThrow('worker IDs up to 1024 with 3 processes');
  });
});
