import type { NetworkInterfaceInfo } from 'node:os';
import { loadConfig } from './leaf-config';

function at(family: 'IPv4' | 'IPv6', address: string, internal = false): NetworkInterfaceInfo {
  const common = { address, netmask: '', mac: '', internal, cidr: null };
  return family === 'IPv4' ? { ...common, family } : { ...common, family, scopeid: 0 };
}

const LOOPBACK = { lo: [at('IPv4', '127.0.0.1', true)] };
const NETWORK = { lo: [at('IPv6', '::1', true)], eth0: [at('IPv6', 'fe80::1'), at('IPv4', '10.0.0.7')] };

describe('The addresses of a server', () => {
  it('listens on both families where the host has both', () => {
    expect(loadConfig({}, false, NETWORK).host).toBe('::');
    expect(loadConfig({}, false, LOOPBACK).host).toBe('0.0.0.0');
    expect(loadConfig({ LEAF_HOST: '10.0.0.7' }, false, NETWORK).host).toBe('10.0.0.7');
  });

  it('refuses to advertise a loopback address to a registry that servers share, unless it is set', () => {
    const zookeeper = { LEAF_SEGMENT_ENABLED: 'false', LEAF_SNOWFLAKE_REGISTRY: 'zk_recycle', LEAF_ZOOKEEPER: 'zk1' };
    for (const shared of [zookeeper, { LEAF_DATABASE_URL: 'mysql://leaf@db/leaf' }]) {
      expect(() => loadConfig(shared, false, LOOPBACK)).toThrow('LEAF_ADVERTISE_HOST must be set');
      const byHand = loadConfig({ ...shared, LEAF_ADVERTISE_HOST: '127.0.0.1' }, false, LOOPBACK);
      expect(byHand.instance.ip).toBe('127.0.0.1');
    }
    const file = { LEAF_SNOWFLAKE_REGISTRY: 'database', LEAF_DATABASE_URL: 'sqlite:/a' };
    expect(loadConfig(file, false, LOOPBACK).instance.ip).toBe('127.0.0.1');
    expect(loadConfig({}, false, LOOPBACK).instance.ip).toBe('127.0.0.1');
  });

  it('warns when it advertises an address on which HTTP does not listen', () => {
    const shared = { LEAF_DATABASE_URL: 'mysql://leaf@db/leaf' };
    const warnings = (env: Record<string, string>): readonly string[] => loadConfig(env, false, NETWORK).warnings;
    const local = warnings({ ...shared, LEAF_HOST: '127.0.0.1' });
    expect(local).toEqual([expect.stringContaining('registry is 10.0.0.7, but HTTP listens only on 127.0.0.1')]);
    for (const LEAF_HOST of ['::', '0.0.0.0', '10.0.0.7']) expect(warnings({ ...shared, LEAF_HOST })).toStrictEqual([]);
    expect(warnings({ ...shared, LEAF_HOST: '127.0.0.1', LEAF_ADVERTISE_HOST: '10.0.0.8' })).toStrictEqual([]);
    expect(warnings({ LEAF_HOST: '127.0.0.1' })).toStrictEqual([]);
  });
});
