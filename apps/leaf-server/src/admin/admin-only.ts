import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiBearerAuth } from '../openapi/decorators';
import { AdminGuard } from './admin.guard';

/** Every route of the controller needs a token, and the API document says so. */
export function AdminOnly(): ClassDecorator {
  return applyDecorators(UseGuards(AdminGuard), ApiBearerAuth());
}
