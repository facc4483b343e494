import type { INestApplication } from '@nestjs/common';
import { type ApiDescription, buildDocument } from './build-document';

/** The description of this server's API, made at the first question. */
export class ApiDocument {
  private application: INestApplication | undefined;
  private built: Promise<ApiDescription> | undefined;

  /** To be called once, before the server listens. */
  describe(application: INestApplication): void {
    this.application = application;
  }

  get(): Promise<ApiDescription> {
    this.built ??= this.build();
    return this.built;
  }

  private async build(): Promise<ApiDescription> {
    if (this.application === undefined) throw new Error('ApiDocument has no application to describe.');
    return buildDocument(this.application);
  }
}
