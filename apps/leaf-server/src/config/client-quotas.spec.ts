import { messageOf } from '@leaf-ids/core/internal';
import { loadConfig } from './leaf-config';
import { clientQuotas } from './tokens';

describe('clientQuotas', () => {
  it('reads tags and IDs per second by name', () => {
    const value = '{"billing":{"tags":["order","*"],"idsPerSecond":1000},"shop":{"tags":[]},"*":{}}';
    expect(clientQuotas(value)).toEqual({
      billing: { tags: ['order', '*'], idsPerSecond: 1000 },
      shop: { tags: [] },
      '*': { tags: ['*'] },
    });
  });

  it('reads the lowest and the highest rate', () => {
    expect(clientQuotas('{"a":{"idsPerSecond":1},"b":{"idsPerSecond":1000000000}}')).toEqual({
      a: { tags: ['*'], idsPerSecond: 1 },
      b: { tags: ['*'], idsPerSecond: 1_000_000_000 },
    });
  });

  it.each([
    ['', 'JSON object'],
    ['[]', 'JSON object'],
    ['{}', 'JSON object'],
    ['{"billing":1000}', 'JSON object'],
    ['{"billing":null}', 'JSON object'],
    ['{"billing":[]}', 'JSON object'],
    ['{"billing":"order"}', 'JSON object'],
    ['{"bil ling":{}}', 'names of 1 to 32'],
    ['{"**":{}}', 'names of 1 to 32'],
    ['{"billing":{"tag":["order"]}}', 'unknown property "tag"'],
    ['{"billing":{"tags":"order"}}', 'list of tags'],
    ['{"billing":{"tags":["or der"]}}', 'list of tags'],
    ['{"billing":{"tags":["order",1]}}', 'list of tags'],
    ['{"billing":{"tags":{"0":"order"}}}', 'list of tags'],
    ['{"billing":{"tags":["order.*"]}}', 'list of tags'],
    ['{"billing":{"idsPerSecond":0}}', 'from 1 to'],
    ['{"billing":{"idsPerSecond":-1}}', 'from 1 to'],
    ['{"billing":{"idsPerSecond":1.5}}', 'from 1 to'],
    ['{"billing":{"idsPerSecond":1000000001}}', 'from 1 to'],
    ['{"billing":{"idsPerSecond":"10"}}', 'from 1 to'],
    ['{"billing":{"idsPerSecond":null}}', 'from 1 to'],
    ['{"a":{"idsPerSecond":1},"b":{},"a":{"idsPerSecond":1000000}}', 'must not contain "a" twice'],
    ['{"a":{},"\\u0061" : {}}', 'must not contain "a" twice'],
    ['{"a":{"tags":["*"],"idsPerSecond":1,"tags":["order"]}}', 'must not contain "tags" twice'],
  ])('refuses %s', (value, problem) => {
    expect(() => clientQuotas(value)).toThrow(problem);
  });
});

describe('the settings of client tokens', () => {
  const TOKEN = 'billing-token-0123456789';
  const tokens = `billing:${TOKEN}`;
  const fault = (env: NodeJS.ProcessEnv): string => {
    try {
      loadConfig(env);
      return '';
    } catch (error) {
      return messageOf(error);
    }
  };

  it('are off by default', () => {
    expect(loadConfig({}).clients).toBeUndefined();
    expect(loadConfig({ LEAF_CLIENT_TOKENS: TOKEN }).clients).toEqual({
      tokens: [{ name: 'client', token: TOKEN }],
      file: undefined,
      rules: {},
    });
  });

  it.each([
    [{ LEAF_CLIENT_QUOTAS: '{"*":{}}' }, 'needs LEAF_CLIENT_TOKENS'],
    [{ LEAF_CLIENT_TOKENS: tokens, LEAF_CLIENT_QUOTAS: '{"biling":{}}' }, 'names "biling"'],
    [{ LEAF_CLIENT_TOKENS: tokens, LEAF_ADMIN_TOKEN: TOKEN }, 'must not share a token'],
  ])('%j is refused, and no token is shown', (env, problem) => {
    expect(fault(env)).toContain(problem);
    expect(fault(env)).not.toContain(TOKEN);
  });
});
