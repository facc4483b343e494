import { parseRegistryDocument, type RegistryDocument } from './registry-document';

const PLAIN = {
  ...{
    id: 'id',
    madeAt: 1,
    strategy: 'test',
    layout: 'l',
    highest: -1,
    generation: 2,
    origin: 'a',
    began: 3,
    floor: 4,
  },
};
const WHOLE: RegistryDocument = {
  ...{ ...PLAIN, horizonMs: 5, continues: false, registering: 6 },
  maintained: { at: 7, usage: { used: 8, most: 9, first: 10 } },
};
const parse = (document: object) => parseRegistryDocument(JSON.stringify(document));

it('A document is read as it was written', () => {
  expect(parse(WHOLE)).toEqual(WHOLE);
  expect(parse({ ...WHOLE, floor: undefined })).toEqual({ ...WHOLE, floor: undefined });
  expect(parse({ ...WHOLE, continues: true })).toEqual({ ...WHOLE, continues: true });
});

it('What an earlier version has not written is unknown', () => {
  expect(parse(PLAIN)).toEqual(PLAIN);
  const invalid = { horizonMs: '5', continues: 'false', registering: -1, maintained: { usage: { used: 1, most: 1 } } };
  expect(parse({ ...PLAIN, ...invalid })).toEqual(PLAIN);
});

it.each([
  [null, undefined],
  [{ at: 7 }, { at: 7, usage: undefined }],
  [
    { at: 7, usage: { used: 1 } },
    { at: 7, usage: undefined },
  ],
  [
    { at: 7, usage: { most: 1 } },
    { at: 7, usage: undefined },
  ],
  [
    { at: 7, usage: { used: 1, most: 2, first: -1 } },
    { at: 7, usage: { used: 1, most: 2 } },
  ],
])('A turn of maintenance %j', (maintained, expected) => {
  expect(parse({ ...PLAIN, maintained })?.maintained).toStrictEqual(expected);
});

it.each(Object.keys(PLAIN))('A document with a wrong value of %s is none', (name) => {
  for (const wrong of [null, {}, 1.5, true].slice(name === 'floor' ? 1 : 0)) {
    expect(parse({ ...PLAIN, [name]: wrong })).toBeUndefined();
  }
});

it('A document without a value is none', () => {
  for (const name of Object.keys(PLAIN).filter((each) => each !== 'floor')) {
    expect(parse({ ...PLAIN, [name]: undefined })).toBeUndefined();
  }
  expect(parseRegistryDocument('')).toBeUndefined();
});
