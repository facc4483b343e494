import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failingFile, removeDatabaseContract, type ThreeDatabases } from './remove-database.contract';

async function threeFiles(): Promise<ThreeDatabases> {
  const directory = await mkdtemp(join(tmpdir(), 'leaf-remove-'));
  const file = (name: string): string => `sqlite:${join(directory, name)}.sqlite`;
  return {
    urls: { a: file('a'), b: file('b'), c: file('c') },
    failing: (_, event) => failingFile(event),
    cleanUp: () => rm(directory, { recursive: true }),
  };
}

removeDatabaseContract('SQLite', threeFiles);
