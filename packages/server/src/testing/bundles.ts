/** The built program, as Node loads it: with its real chunks, and in a fraction of the time that the sources need. Types come from the sources. */
const load = <Module>(file: string): Promise<Module> =>
  import(new URL(`../../dist/${file}`, import.meta.url).href) as Promise<Module>

export const serverBundle = () => load<typeof import('../cli/serve/serve.ts')>('server.js')
export const edgeBundle = () => load<typeof import('../cli/edge.ts')>('edge.js')
