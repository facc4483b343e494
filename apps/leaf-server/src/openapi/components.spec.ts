import { Components } from './components';
import { arrayOf, object, text } from './schema';

interface Leaf {
  readonly name: string;
}

const LEAF = object<Leaf>('Leaf', { name: text('What it is called.') });

it('names a schema once, wherever it is used', () => {
  const components = new Components();
  const reference = { $ref: '#/components/schemas/Leaf' };
  expect(components.refer(LEAF)).toEqual(reference);
  expect(components.refer(arrayOf(LEAF))).toEqual({ type: 'array', items: reference });
  expect(components.refer({ type: 'object', additionalProperties: LEAF })).toMatchObject({
    additionalProperties: reference,
  });
  const { title, ...schema } = LEAF;
  expect(components.schemas).toEqual({ [title as string]: schema });
});

it('names the parts of a named schema too', () => {
  const components = new Components();
  components.refer(object<{ leaf: Leaf }>('Tree', { leaf: LEAF }));
  expect(Object.keys(components.schemas)).toEqual(['Leaf', 'Tree']);
  expect(components.schemas.Tree?.properties).toEqual({ leaf: { $ref: '#/components/schemas/Leaf' } });
});

it('refuses two schemas of one name', () => {
  const components = new Components();
  components.refer(LEAF);
  expect(() => components.refer(object<Leaf>('Leaf', { name: text('Something else.') }))).toThrow('Leaf');
});

it('takes what may be left out from the list of what is required', () => {
  const { required } = object<{ a: string; b?: string }>('Both', { a: text(''), b: text('') }, ['b']);
  expect(required).toEqual(['a']);
});
