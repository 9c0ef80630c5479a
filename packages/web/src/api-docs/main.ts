import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import 'swagger-ui-dist/swagger-ui.css'
import './api-docs.css'
import { accessibleComponents, labelControls } from './accessible.ts'
import { followColorScheme } from './color-scheme.ts'
import { resolveReferences } from './resolve-references.ts'
import { searchOperations } from './search-operations.ts'

/** The API reference at `/api/docs/`: Swagger UI with the document of this server, without any external request. */

followColorScheme(document.documentElement)
const reference = document.querySelector('#reference')!

SwaggerUI({
  url: '/api/schema/',
  domNode: reference,
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  defaultModelRendering: 'example',
  displayRequestDuration: true,
  filter: true,
  // The highlighter's colors have too little contrast.
  syntaxHighlight: false,
  validatorUrl: null,
  plugins: [() => ({ fn: { opsFilter: searchOperations, resolveSubtree: resolveReferences } }), accessibleComponents],
  onComplete: () => labelControls(reference),
})
