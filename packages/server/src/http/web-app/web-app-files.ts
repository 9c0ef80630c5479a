import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtFolder, listStaticFiles, type StaticFiles } from '../static-files/static-files.ts'

export interface PageFiles {
  /** A template, which is completed for each request. */
  readonly index: string
  /** The page of the API reference. */
  readonly apiDocs: string
  readonly files: StaticFiles
  /** The fonts of the web app, for a page that does not load its style sheet. */
  fonts(): PageFonts
}

export interface PageFonts {
  /** A `<link>` that loads the text font early. */
  readonly preload: string
  /** `@font-face` rules. */
  readonly faces: string
}

/** The built web app, or undefined when it has not been built. */
export function listPageFiles(folder = builtFolder('web')): PageFiles | undefined {
  if (folder === undefined) return undefined
  const files = [...listStaticFiles(folder)].filter(([path]) => !path.endsWith('.html'))
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  const index = read('index.html')
  // Read for the first request, which most processes never get.
  let cached: PageFonts | undefined
  const fonts = (): PageFonts => {
    if (cached) return cached
    const styles = [...index.matchAll(/href="\/(assets\/[^"]*\.css)"/g)].map(([, name]) => read(name!)).join('')
    cached = {
      preload: (index.match(linkTag) ?? []).find(tag => tag.includes('as="font"')) ?? '',
      faces: (styles.match(/@font-face\s*\{[^{}]*\}/g) ?? []).join(''),
    }
    return cached
  }
  return { index, apiDocs: read('api-docs.html'), files: new Map(files), fonts }
}

const linkTag = /<link [^<>]*>/g
