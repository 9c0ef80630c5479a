import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtFolder, listStaticFiles, type StaticFiles } from '../static-files/static-files.ts'

export interface PageFiles {
  /** A template, which is completed for each request. */
  readonly index: string
  readonly files: StaticFiles
}

/** The built web app, or undefined when it has not been built. */
export function listPageFiles(folder = builtFolder('web')): PageFiles | undefined {
  if (folder === undefined) return undefined
  const files = [...listStaticFiles(folder)].filter(([path]) => path !== '/index.html')
  return { index: readFileSync(join(folder, 'index.html'), 'utf8'), files: new Map(files) }
}
