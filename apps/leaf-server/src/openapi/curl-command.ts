import type { Operation } from './operation';
import type { SchemaView } from './schema-view';

/** A command that works as it stands, on a server with the default port. */
export function curlCommand(
  path: string,
  method: string,
  { parameters = [], requestBody, security }: Operation,
  view: SchemaView,
): string {
  const sampleOf = (name: string): string => {
    const schema = parameters.find((parameter) => parameter.name === name)?.schema;
    return encodeURIComponent(String(view.sample(schema ?? {})));
  };
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => sampleOf(name));
  const query = parameters.filter(({ in: where }) => where === 'query').map(({ name }) => `${name}=${sampleOf(name)}`);
  const url = query.length === 0 ? filled : `${filled}?${query.join('&')}`;
  const body = requestBody?.content['application/json']?.schema;
  return [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}'http://127.0.0.1:8080${url}'`,
    ...(security === undefined ? [] : [`-H "Authorization: Bearer $LEAF_ADMIN_TOKEN"`]),
    ...(body === undefined ? [] : [`-H 'content-type: application/json' -d '${JSON.stringify(view.sample(body))}'`]),
  ].join(' \\\n  ');
}
