import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Controller, Get, Header, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { LeafError } from '@leaf-ids/core';
import { PAGE_CSP } from '../http/responses/content-security';
import { ApiDocument } from './api-document';
import { ApiOperation, ApiParam, ApiResponse, ApiTags } from './decorators';
import { ApiProblems } from './problems';
import { contentOf, HTML } from './schemas';

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
@ApiTags('Documentation')
export class OpenApiController {
  constructor(private readonly document: ApiDocument) {}

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ operationId: 'openapi', summary: 'This API in OpenAPI 3.0' })
  @ApiResponse({
    status: 200,
    description: 'The document.',
    schema: { type: 'object', example: { openapi: '3.0.3' } },
  })
  async openapi(): Promise<string> {
    return JSON.stringify(await this.document.get());
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', PAGE_CSP)
  @ApiOperation({ operationId: 'docs', summary: 'This API for people: Swagger UI' })
  @ApiResponse({ status: 200, description: 'The page.', ...HTML })
  docs(): string {
    return PAGE;
  }

  /** @throws LeafError `LEAF_NOT_FOUND` */
  @Get('docs/:name')
  @ApiOperation({ operationId: 'docsFile', summary: 'A file that this page loads' })
  @ApiParam({ name: 'name', schema: { type: 'string', enum: FILES, example: FILES[0] } })
  @ApiResponse({ status: 200, description: 'Script, style or image.', ...contentOf('*/*', 'The file.') })
  @ApiProblems('LEAF_NOT_FOUND')
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
