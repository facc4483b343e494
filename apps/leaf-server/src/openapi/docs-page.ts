import { ERROR_CATALOGUE } from '@leaf/core';
import type { ApiDescription } from './build-document';
import { html, type Html, prose } from '../http/responses/html';
import type { Operation } from './operation';
import { operationView } from './operation-view';
import { BODY_PROBLEMS, HTTP_PROBLEMS, PATH_PROBLEMS } from './problem-responses';
import { SchemaView } from './schema-view';

interface Route {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
}

/** The document as a page for people: one file and its style sheet, no script. */
export function docsPage({ info, tags, paths, components }: ApiDescription): string {
  const view = new SchemaView(components.schemas);
  const routes = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Route => ({ path, method, operation })),
  );
  const groups = tags
    .map(({ name, description }) => ({ name, description, routes: routes.filter((route) => isOf(route, name)) }))
    .filter((group) => group.routes.length > 0);
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${info.title} HTTP API</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/docs/style.css" />
      </head>
      <body>
        <nav aria-label="Routes">
          ${groups.map(
            ({ name, routes }) =>
              html`<h2><a href="#${slug(name)}">${name}</a></h2>
                ${routeList(routes)}`,
          )}
          <h2><a href="#any-route">Any route</a></h2>
        </nav>
        <main>
          <header>
            <h1>${info.title} HTTP API <small>${info.version}</small></h1>
            <p>${prose(info.description)}</p>
            <p><a href="/openapi.json">openapi.json</a> says the same to programs, in OpenAPI 3.0.</p>
          </header>
          ${groups.map(
            ({ name, description, routes }) =>
              html`<section id="${slug(name)}">
                <h2>${name}</h2>
                <p>${prose(description)}</p>
                ${routes.map(({ path, method, operation }) => operationView(path, method, operation, view))}
              </section>`,
          )}
          ${anyRoute()}
        </main>
      </body>
    </html>`;
  return page.text;
}

function isOf({ operation }: Route, group: string): boolean {
  return operation.tags.includes(group);
}

function routeList(routes: readonly Route[]): Html {
  return html`<ul>
    ${routes.map(
      ({ path, method, operation }) =>
        html`<li>
          <a href="#${operation.operationId}" title="${operation.summary}"
            ><span class="verb ${method}">${method.toUpperCase()}</span> <span class="path">${path}</span></a
          >
        </li>`,
    )}
  </ul>`;
}

function anyRoute(): Html {
  const codes = [...HTTP_PROBLEMS, ...PATH_PROBLEMS, ...BODY_PROBLEMS, 'LEAF_NOT_FOUND'] as const;
  return html`<section id="any-route">
    <h2>Any route</h2>
    <p>What is wrong with the request itself is answered on every route:</p>
    <dl>
      ${codes.map((code) => {
        const { status, title } = ERROR_CATALOGUE[code];
        return html`<dt>
            <strong class="status s${String(status).slice(0, 1)}">${status}</strong> <code>${code}</code>
          </dt>
          <dd>${title}.</dd>`;
      })}
    </dl>
  </section>`;
}

function slug(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}
