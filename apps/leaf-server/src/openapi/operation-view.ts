import { curlCommand } from './curl-command';
import { html, type Html, prose } from '../http/responses/html';
import type { Operation, Parameter, Response } from './operation';
import { BODY_PROBLEMS, HTTP_PROBLEMS, PATH_PROBLEMS, PROBLEM_MEDIA_TYPE } from './problem-responses';
import type { Schema } from './schema';
import type { SchemaView } from './schema-view';

/** One route on the page. */
export function operationView(path: string, method: string, operation: Operation, view: SchemaView): Html {
  const { operationId, summary, description = '', parameters = [], requestBody, responses, security } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const token = security === undefined ? '' : html`<span class="token">needs a token</span>`;
  return html`<article id="${operationId}">
    <h3><span class="verb ${method}">${method.toUpperCase()}</span> <code>${breakable(path)}</code></h3>
    <p>${summary}. ${token}</p>
    <p>${prose(description)}</p>
    ${parameters.length === 0 ? '' : html`<h4>Parameters</h4>`}
    ${rows(parameters.map((each) => parameterRow(each, view)))} ${body === undefined ? '' : html`<h4>Body</h4>`}
    ${body === undefined ? '' : fieldRows(body, view)}
    <h4>Try</h4>
    <pre><code>${curlCommand(path, method, operation, view)}</code></pre>
    <h4>Answers</h4>
    ${Object.entries(responses).map(([status, response]) => responseView(status, response, operation, view))}
  </article>`;
}

interface Row {
  readonly name: string;
  readonly note: string;
  readonly rule: string;
  readonly description: string;
}

function rows(all: readonly Row[]): Html {
  if (all.length === 0) return html``;
  return html`<dl>
    ${all.map(
      ({ name, note, rule, description }) =>
        html`<dt><code>${breakable(name)}</code> <span class="note">${note}</span></dt>
          <dd>${prose(description)} <span class="rule">${rule}</span></dd>`,
    )}
  </dl>`;
}

function parameterRow({ name, in: where, required, description = '', schema }: Parameter, view: SchemaView): Row {
  const note = `in the ${where}${required ? '' : ', may be left out'}`;
  return { name, note, rule: view.rule(schema), description };
}

function fieldRows(schema: Schema, view: SchemaView): Html {
  const optional = (required: boolean): string => (required ? '' : 'may be left out');
  return rows(view.fields(schema).map(({ required, ...field }) => ({ ...field, note: optional(required) })));
}

function responseView(status: string, response: Response, operation: Operation, view: SchemaView): Html {
  const { [PROBLEM_MEDIA_TYPE]: problem, ...bodies } = response.content ?? {};
  const codes = problem === undefined ? [] : tellingCodes(problem.schema, operation);
  if (problem !== undefined && codes.length === 0 && Object.keys(bodies).length === 0) return html``;
  const meaning = codes.length === 0 ? prose(response.description) : codes.map((code) => html`<code>${code}</code> `);
  return html`<div class="answer">
    <p><strong class="status s${status.slice(0, 1)}">${status}</strong> <span>${meaning}</span></p>
    ${Object.entries(bodies).map(([type, { schema }]) => bodyView(type, schema, view))}
  </div>`;
}

function bodyView(type: string, schema: Schema, view: SchemaView): Html {
  const sample = view.sample(schema);
  const shown = type.endsWith('json') ? JSON.stringify(sample, undefined, 2) : String(sample);
  const details = html`<details>
    <summary>Fields</summary>
    ${fieldRows(schema, view)}
  </details>`;
  return html`<pre title="${type}"><code>${shown}</code></pre>
    ${view.fields(schema).length === 0 ? '' : details}`;
}

/** The codes of this route, without those that any route may answer. */
function tellingCodes({ allOf = [] }: Schema, { requestBody }: Operation): string[] {
  const common: readonly unknown[] = [
    ...HTTP_PROBLEMS,
    ...PATH_PROBLEMS,
    ...(requestBody === undefined ? BODY_PROBLEMS : []),
  ];
  const codes = allOf.flatMap(({ properties }) => properties?.code?.enum ?? []);
  return codes.filter((code) => !common.includes(code)).map(String);
}

/** Lets a long path break where its parts do. */
function breakable(path: string): Html[] {
  return path.split(/(?<=[/.])/).map((part, index) => (index === 0 ? html`${part}` : html`<wbr />${part}`));
}
