import { formatNodeData, nodePrefix, parseCeiling, parseNodeName } from './normal-node';

describe('parseNodeName', () => {
  it.each([
    ['10.0.0.7:8080-0000000012', '10.0.0.7', 8080, 12],
    ['leaf-0.leaf-svc:80-0000000003', 'leaf-0.leaf-svc', 80, 3],
    ['a-0000000009:8080-0000000010', 'a-0000000009', 8080, 10],
    ['[fe80::1-2]:8080-0000000000', 'fe80::1-2', 8080, 0],
    ['h:1-2147483647', 'h', 1, 2_147_483_647],
  ])('reads %s', (name, ip, port, workerId) => {
    expect(parseNodeName(name)).toEqual({ name, workerId, instance: { ip, port } });
    expect(`${nodePrefix({ ip, port })}${String(workerId).padStart(10, '0')}`).toBe(name);
  });

  it.each(['', '10.0.0.7:8080', '10.0.0.7:8080-12', '10.0.0.7-0000000012', ':80-0000000012', 'h:80--2147483648'])(
    'takes "%s" for no record',
    (name) => {
      expect(parseNodeName(name)).toBeUndefined();
    },
  );
});

describe('the data of a node', () => {
  it('is what the Java service reads', () => {
    const data = formatNodeData({ ip: '10.0.0.7', port: 8080 }, 1_732_000_000_000);
    expect(data).toBe('{"ip":"10.0.0.7","port":"8080","timestamp":1732000000000}');
    expect(parseCeiling(data)).toBe(1_732_000_000_000);
  });

  it.each([
    '',
    'null',
    '[]',
    '17',
    '{',
    '{}',
    '{"timestamp":"1"}',
    '{"timestamp":-1}',
    '{"timestamp":1.5}',
    '{"timestamp":1e300}',
  ])('has no ceiling as %s', (data) => {
    expect(parseCeiling(data)).toBeUndefined();
  });
});
