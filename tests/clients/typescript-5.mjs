// Loaded before a program: `typescript` is then TypeScript 5.
import { register } from 'node:module'

const hooks = `export const resolve = (specifier, context, next) =>
  next(specifier === 'typescript' ? 'typescript-5' : specifier, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
