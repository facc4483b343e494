import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';

interface OrderConfig {
  readonly isClusterOrder?: true;
}

/** The route also accepts requests that a cluster token signs: other servers pass orders on to it. */
export function ClusterOrder(): MethodDecorator {
  return RouteConfig({ isClusterOrder: true } satisfies OrderConfig);
}

/** Whether the route of the request is a {@link ClusterOrder}. */
export function isClusterOrder({ routeOptions: { config } }: FastifyRequest): boolean {
  return (config as OrderConfig).isClusterOrder === true;
}
