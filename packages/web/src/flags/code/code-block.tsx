import { ActionIcon, Code, CopyButton, Tooltip } from '@mantine/core'
import { useMessages } from '../../i18n/language.tsx'
import { Copied } from '../../ui/data/copy-button.tsx'
import { CheckIcon, CopyIcon } from '../../ui/icons.tsx'
import classes from './code-block.module.css'
import { highlight } from './highlight.ts'
import type { Syntax } from './snippet.ts'

/** Highlighted code with a button that copies it. */
export function CodeBlock({ code, syntax, label }: { code: string; syntax: Syntax; label: string }) {
  const t = useMessages()
  return (
    <div className={classes.snippet} data-long={code.includes('\n') || undefined}>
      <Code block tabIndex={0} role="group" aria-label={label}>
        {highlight(code, syntax).map(({ kind, text }, index) =>
          kind === 'text' ? (
            text
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: the tokens of one text never move.
            <span key={index} className={classes[kind]}>
              {text}
            </span>
          ),
        )}
      </Code>
      <CopyButton value={code}>
        {({ copied, copy }) => (
          <>
            <Tooltip label={copied ? t.common.copied : t.common.copy}>
              <ActionIcon
                className={classes.copy as string}
                variant="default"
                onClick={copy}
                aria-label={`${copied ? t.common.copied : t.common.copy}: ${label}`}
              >
                {copied ? <CheckIcon size={16} /> : <CopyIcon size={16} />}
              </ActionIcon>
            </Tooltip>
            <Copied isCopied={copied} />
          </>
        )}
      </CopyButton>
    </div>
  )
}
