interface Route {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** The registered routes and their methods. */
export class RouteMethods {
  private readonly routes = new Map<string, Route>();

  /** @param url of the route, as `/api/tags/:tag` */
  add(url: string, methods: readonly string[]): void {
    let route = this.routes.get(url);
    if (route === undefined) {
      route = { pattern: new RegExp(`^${url.replace(/\./g, '\\.').replace(/:\w+/g, '[^/]+')}$`), methods: new Set() };
      this.routes.set(url, route);
    }
    for (const method of methods) route.methods.add(method);
  }

  /** The route of this path; a route without parameters comes before one with. */
  find(path: string): string | undefined {
    if (this.routes.has(path)) return path;
    for (const [url, { pattern }] of this.routes) if (pattern.test(path)) return url;
    return undefined;
  }

  /**
   * For the header `Allow`; undefined if no route that is served has this path.
   *
   * @param isServed of the URL of a route
   */
  allowed(path: string, isServed: (url: string) => boolean): string | undefined {
    const methods = [...this.routes].flatMap(([url, route]) =>
      route.pattern.test(path) && isServed(url) ? [...route.methods] : [],
    );
    return methods.length === 0 ? undefined : [...new Set(methods)].sort().join(', ');
  }
}
