import { isIPv4 } from 'node:net';
import type { NetworkInterfaceInfo } from 'node:os';
import { firstAddress, formatInstance, isLoopback, processInstance, serverInstance } from './instance';

describe('formatInstance', () => {
  it.each([
    ['10.0.0.7', 8080, '10.0.0.7:8080'],
    ['leaf-0.leaf', 80, 'leaf-0.leaf:80'],
    ['::1', 8080, '[::1]:8080'],
    ['2001:db8::7', 65535, '[2001:db8::7]:65535'],
  ])('writes %s and %i as %s', (ip, port, text) => {
    expect(formatInstance({ ip, port })).toBe(text);
  });
});

it.each([
  { ip: '10.0.0.7', port: 8080 },
  { ip: 'fd00::7', port: 80 },
])('the server of a process of %j', (server) => {
  const name = formatInstance(server);
  expect(serverInstance(name)).toBe(name);
  expect(serverInstance(formatInstance(processInstance(server, 12)))).toBe(name);
});

describe('firstAddress', () => {
  const at = (family: 'IPv4' | 'IPv6', address: string, internal = false): NetworkInterfaceInfo => {
    const common = { address, netmask: '', mac: '', internal, cidr: null };
    return family === 'IPv4' ? { ...common, family } : { ...common, family, scopeid: 0 };
  };
  const lo = [at('IPv4', '127.0.0.1', true), at('IPv6', '::1', true)];

  it('is an IPv4 address where there is one', () => {
    expect(isIPv4(firstAddress())).toBe(true);
    expect(firstAddress({ lo, eth0: [at('IPv6', 'fd00::2'), at('IPv4', '10.0.0.7')] })).toBe('10.0.0.7');
  });

  it('is an IPv6 address that other hosts reach where there is no other', () => {
    expect(firstAddress({ lo, eth0: [at('IPv6', 'fe80::1'), at('IPv6', 'fd00::2')] })).toBe('fd00::2');
  });

  it('is the loopback address where others reach none', () => {
    expect(firstAddress({ lo, eth0: [at('IPv6', 'fe80::1')] })).toBe('127.0.0.1');
    expect(isLoopback(firstAddress({ lo }))).toBe(true);
  });
});

it.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['localhost', true],
  ['::ffff:127.0.0.1', true],
  ['10.0.0.127', false],
  ['fd00::1', false],
  ['leaf-0.leaf', false],
])('%s as loopback address: %s', (address, expected) => {
  expect(isLoopback(address)).toBe(expected);
});
