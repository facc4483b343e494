import { randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalWorkerRegistry } from '@leaf/registry';
import { workerRegistryContract } from './worker-registry.contract';

const directory = mkdtempSync(join(tmpdir(), 'leaf-registry-'));
afterAll(() => rm(directory, { recursive: true }));

const PORTS = [8080, 8081, 8082];
const workers = Object.fromEntries(PORTS.map((port, workerId) => [`10.0.0.7:${port}`, workerId]));

workerRegistryContract('LocalWorkerRegistry', {
  instances: PORTS.length,
  stock: false,
  twin: 'refused',
  reset: async () => {
    await rm(directory, { recursive: true });
    await mkdir(directory);
  },
  open: (instance) => {
    const registry = new LocalWorkerRegistry(workers, directory);
    const holder = { ip: '10.0.0.7', port: PORTS[instance]!, leaseId: randomBytes(8).toString('hex') };
    return Promise.resolve({ registry, holder, close: () => registry.close() });
  },
});
