import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { LeafError } from '@leaf/core';
import { PAGE_CSP } from '../http/responses/content-security';
import { ApiDocument } from './api-document';
import { Describe, htmlPage, json } from './route-description';
import { text } from './schema';

/** Files of Swagger UI that the page loads, by their types. */
const SWAGGER_UI = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const;
const START = 'start.js';
const FILES = [...Object.keys(SWAGGER_UI), START];

/** The page of `SwaggerModule.setup` has inline styles, which the content security policy refuses. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Leaf HTTP API</title>
    <link rel="icon" href="docs/favicon-32x32.png" />
    <link rel="stylesheet" href="docs/swagger-ui.css" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/${START}"></script>
  </body>
</html>
`;
/** Without a validator: that would be a foreign host. */
const START_SCRIPT = `SwaggerUIBundle({ url: 'openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null });
`;

/** The description of this API, for programs and for people. */
@Controller()
export class OpenApiController {
  constructor(private readonly document: ApiDocument) {}

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  @Describe({
    id: 'openapi',
    group: 'Documentation',
    summary: 'This API in OpenAPI 3.0',
    answers: { 200: json({ type: 'object', example: { openapi: '3.0.3' } }, 'The document.') },
  })
  async openapi(): Promise<string> {
    return JSON.stringify(await this.document.get());
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', PAGE_CSP)
  @Describe({
    id: 'docs',
    group: 'Documentation',
    summary: 'This API for people: Swagger UI',
    answers: { 200: htmlPage() },
  })
  docs(): string {
    return PAGE;
  }

  /** @throws LeafError `LEAF_NOT_FOUND` */
  @Get('docs/:name')
  @Describe({
    id: 'docsFile',
    group: 'Documentation',
    summary: 'A file that this page loads',
    path: { name: { type: 'string', enum: FILES, example: FILES[0] } },
    answers: { 200: { description: 'Script, style or image.', type: '*/*', schema: text('The file.') } },
    problems: ['LEAF_NOT_FOUND'],
  })
  async file(@Param('name') name: string, @Res() reply: FastifyReply): Promise<void> {
    const [type, body] = name === START ? [SWAGGER_UI['swagger-ui-bundle.js'], START_SCRIPT] : await shippedFile(name);
    void reply.type(type).send(body);
  }
}

/** A file of the package that @nestjs/swagger depends on. */
async function shippedFile(name: string): Promise<readonly [string, Buffer]> {
  const type = Object.hasOwn(SWAGGER_UI, name) ? SWAGGER_UI[name as keyof typeof SWAGGER_UI] : undefined;
  if (type === undefined) throw new LeafError('LEAF_NOT_FOUND', 'The page of the API has no such file. See /docs.');
  const nestjsSwagger = createRequire(__filename).resolve('@nestjs/swagger');
  const folder = dirname(createRequire(nestjsSwagger).resolve('swagger-ui-dist/package.json'));
  return [type, await readFile(join(folder, name))];
}
