import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { networkOf, plainAddress, plainForwarded } from './client-network';

describe('networkOf', () => {
  it.each([
    ['10.0.0.7', '10.0.0.7'],
    ['10.0.0.7:4711', '10.0.0.7'],
    ['::ffff:10.0.0.7', '10.0.0.7'],
    ['[::ffff:10.0.0.7]:4711', '10.0.0.7'],
    ['::ffff:a00:7', '10.0.0.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2:3:4:5:6]:4711', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['64:ff9b:1:2::10.0.0.7', '64:ff9b:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['fe80::1:2:3:4%a:b', 'fe80:0:0:0::/64'],
    ['2001:db8::', '2001:db8:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['::1:2:3:4:10.0.0.7', '0:0:1:2::/64'],
    ['2001:db8:1:2:3:4:10.0.0.7', '2001:db8:1:2::/64'],
    ['::ffff:102:304', '1.2.3.4'],
    ['::fffe:102:304', '0:0:0:0::/64'],
    ['unknown', 'unknown'],
    [undefined, 'unknown'],
  ])('of %s is %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('is equal for two addresses of one /64, and different for two networks', () => {
    expect(networkOf('2001:db8:1:2::1')).toBe(networkOf('2001:db8:1:2:ffff:ffff:ffff:ffff'));
    expect(networkOf('2001:db8:1:2::1')).not.toBe(networkOf('2001:db8:1:3::1'));
  });
});

describe('plainAddress', () => {
  it.each([
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['0:0:0:0:0:FFFF:127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.1'],
    [' 127.0.0.1:65535 ', '127.0.0.1'],
    ['"127.0.0.1:80"', '127.0.0.1'],
    ['for=127.0.0.1', '127.0.0.1'],
    ['For="[2001:db8::1]:4711"', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['2001:db8::1', '2001:db8::1'],
    ['::1', '::1'],
    ['2001:db8:0:0:0:0:0:1', '2001:db8:0:0:0:0:0:1'],
    ['_hidden:4711', '_hidden'],
    ['_hidden:4711x', '_hidden:4711x'],
    ['xfor=_hidden', 'xfor=_hidden'],
    ['x[2001:db8::1]', 'x[2001:db8::1]'],
    ['[2001:db8::1]x', '[2001:db8::1]x'],
    ['[2001:db8::1]:', '[2001:db8::1]:'],
    ['', ''],
  ])('of %p is %p', (text, address) => {
    expect(plainAddress(text)).toBe(address);
  });
});

it('plainForwarded keeps the order of the hops', () => {
  const request = new IncomingMessage(new Socket());
  plainForwarded(request);
  expect(request.headers).toStrictEqual({});
  request.headers['x-forwarded-for'] = '198.51.100.1:1,[2001:db8::1]:2, 10.1.2.3:4711';
  plainForwarded(request);
  expect(request.headers).toEqual({ 'x-forwarded-for': '198.51.100.1, 2001:db8::1, 10.1.2.3' });
});
