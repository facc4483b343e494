import type { ApiDescription } from './build-document';
import { docsPage } from './docs-page';
import { orNull, type Schema, text } from './schema';

const EVIL = `"><script>alert('x')</script>&`;
const ESCAPED = '&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;';

function description(schema: Schema, words = EVIL): ApiDescription {
  return {
    openapi: '3.0.3',
    info: { title: words, description: words, version: words },
    tags: [{ name: words, description: words }],
    paths: {
      [`/${words}/{id}`]: {
        get: {
          operationId: words,
          tags: [words],
          summary: words,
          description: words,
          parameters: [{ name: words, in: 'query', required: true, description: words, schema }],
          requestBody: { required: true, content: { 'application/json': { schema } } },
          responses: { 200: { description: words, content: { 'application/json': { schema } } } },
        },
      },
    },
    components: { schemas: {}, securitySchemes: {} },
  };
}

it('escapes every text, wherever it stands', () => {
  const schema: Schema = { type: 'object', properties: { [EVIL]: { enum: [EVIL], description: EVIL, example: EVIL } } };
  const page = docsPage(description(schema));
  expect(page).not.toMatch(/<script|alert\('x'\)/);
  expect(page.split(ESCAPED).length).toBeGreaterThan(10);
});

it('shows what a value may be, how deep it ever lies', () => {
  const inner: Schema = { type: 'integer', minimum: 1, maximum: 9, default: 3, description: 'How many.' };
  const list: Schema = { type: 'array', items: { type: 'object', properties: { inner }, required: ['inner'] } };
  const page = docsPage(description({ type: 'object', properties: { list } }, 'words')).replaceAll('<wbr />', '');
  expect(page).toContain('<code>list[].inner</code>');
  expect(page).toContain('integer, 1 to 9, 3 when left out');
  expect(page).toContain('How many.');
});

it('shows what may be null', () => {
  const name = orNull(text('Its name.'));
  const page = docsPage(description({ type: 'object', properties: { name } }, 'words'));
  expect(page).toContain('string, or null');
  expect(page).toContain('&quot;name&quot;: null');
});

it('shows what stands between backticks as code', () => {
  expect(docsPage(description({}, 'see `<b>`'))).toContain('see <code>&lt;b&gt;</code>');
});
