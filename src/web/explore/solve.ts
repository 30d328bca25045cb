// Asks workers. Only the newest setting counts: while a worker is at its first answer a newer setting waits for it, so
// that the picture follows a slider that is dragged; anything slower is ended, and a worker that is ready takes over.

import type { Answer, Question } from './worker';
import type { Settings } from './wasm';

/// The worker's script, which bundle.mjs puts here as text.
declare const workerScript: string;

const patience = 200;  // ms that a first answer may take before a newer setting ends it

export class Asker {
    private readonly address = URL.createObjectURL(new Blob([workerScript], { type: 'text/javascript' }));
    private busy: { worker: Worker; id: number; since: number; first: boolean } | null = null;
    private idle: Worker[] = [];
    private waiting: Question | null = null;
    private timer = 0;
    private ids = 0;
    cancelled = 0;

    constructor(private readonly module: WebAssembly.Module, private readonly answered: (answer: Answer) => void) {
        this.idle.push(this.start(), this.start());
    }

    /// Every answer to it comes to `answered`, unless a newer one is asked first.
    ask(settings: Settings): void {
        this.waiting = { id: ++this.ids, settings };
        this.next();
    }

    private start(): Worker {
        const worker = new Worker(this.address);
        worker.postMessage(this.module);
        return worker;
    }

    private next(): void {
        if (!this.waiting) return;
        if (this.busy) {
            const left = this.busy.first ? 0 : patience - (performance.now() - this.busy.since);
            clearTimeout(this.timer);
            if (left > 0) {
                this.timer = window.setTimeout(() => this.next(), left);
                return;
            }
            this.busy.worker.terminate();
            ++this.cancelled;
            this.busy = null;
            this.idle.push(this.start());
        }
        const worker = this.idle.shift()!, question = this.waiting;
        this.waiting = null;
        this.busy = { worker, id: question.id, since: performance.now(), first: false };
        worker.onmessage = ({ data }) => this.receive(worker, data as Answer);
        worker.postMessage(question);
    }

    private receive(worker: Worker, answer: Answer): void {
        if (!this.busy || this.busy.worker !== worker) return;
        this.busy.first = true;
        this.answered(answer);
        if (answer.refused !== undefined || answer.tooLong || (answer.final && answer.method === 'scalar')) {
            this.busy = null;
            this.idle.unshift(worker);
        }
        this.next();
    }
}
