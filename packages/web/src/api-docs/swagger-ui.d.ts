/** The part of Swagger UI that the API reference uses. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  import type { ComponentType, createElement } from 'react'

  /** An Immutable.js map, as far as the search needs it. */
  export interface ImmutableMap {
    get(key: string): unknown
    getIn(path: readonly string[]): unknown
    set(key: string, value: unknown): ImmutableMap
    filter(keep: (value: ImmutableMap) => boolean): ImmutableMap
    map(change: (value: ImmutableMap, key: string) => ImmutableMap): ImmutableMap
    readonly size: number
  }
  export interface SwaggerPlugin {
    readonly fn?: {
      readonly opsFilter?: (taggedOperations: ImmutableMap, phrase: string) => ImmutableMap
      readonly resolveSubtree?: (document: unknown, path: readonly string[]) => Promise<{ spec: unknown; errors: [] }>
    }
    // biome-ignore lint/suspicious/noExplicitAny: each component has other properties.
    readonly components?: Readonly<Record<string, ComponentType<any>>>
  }
  /** Swagger UI brings its own React. */
  export interface SwaggerSystem {
    readonly React: { readonly createElement: typeof createElement }
  }
  export default function SwaggerUI(options: {
    url: string
    domNode: Element
    deepLinking: boolean
    docExpansion: 'list' | 'full' | 'none'
    defaultModelsExpandDepth: number
    defaultModelRendering: 'example' | 'model'
    displayRequestDuration: boolean
    filter: boolean
    syntaxHighlight: boolean
    validatorUrl: null
    plugins: readonly ((system: SwaggerSystem) => SwaggerPlugin)[]
    onComplete: () => void
  }): void
}
