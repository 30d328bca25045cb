// Asks workers. Only the newest setting counts. One worker gives first answers: it stays, and starts each from the one
// before, so that the picture follows a slider that is dragged. Another gives the final answer, and is ended by a newer
// setting; a worker that is ready takes its place.

import type { Answer, Question } from './worker';
import type { Settings } from './wasm';

/// The worker's script, which bundle.mjs puts here as text.
declare const workerScript: string;

const patience = 200;  // ms that first answers may take before a newer setting ends them

interface Desk {
    worker: Worker;
    question: Question | null;
    since: number;
}

export class Asker {
    private readonly address = URL.createObjectURL(new Blob([workerScript], { type: 'text/javascript' }));
    private readonly first: Desk;
    private readonly final: Desk;
    private spare: Worker;
    private waiting: Question | null = null;
    private timer = 0;
    private ids = 0;
    cancelled = 0;

    constructor(private readonly module: WebAssembly.Module, private readonly answered: (answer: Answer) => void) {
        this.first = { worker: this.start(), question: null, since: 0 };
        this.final = { worker: this.start(), question: null, since: 0 };
        this.spare = this.start();
    }

    /// Every answer to it comes to `answered`, unless a newer one is asked first.
    ask(settings: Settings): void {
        this.waiting = { id: ++this.ids, settings, final: false };
        this.next();
    }

    private start(): Worker {
        const worker = new Worker(this.address);
        worker.postMessage(this.module);
        return worker;
    }

    private next(): void {
        if (!this.waiting) return;
        this.end(this.final);
        clearTimeout(this.timer);
        const left = this.first.question ? patience - (performance.now() - this.first.since) : 0;
        if (left > 0) {
            this.timer = window.setTimeout(() => this.next(), left);
            return;
        }
        this.end(this.first);
        this.post(this.first, this.waiting);
        this.waiting = null;
    }

    private post(desk: Desk, question: Question): void {
        desk.question = question;
        desk.since = performance.now();
        desk.worker.onmessage = ({ data }) => this.receive(desk, data as Answer);
        desk.worker.postMessage(question);
    }

    /// Ends what a worker is at.
    private end(desk: Desk): void {
        if (!desk.question) return;
        desk.question = null;
        desk.worker.onmessage = null;
        desk.worker.terminate();
        desk.worker = this.spare;
        this.spare = this.start();
        ++this.cancelled;
    }

    private receive(desk: Desk, answer: Answer): void {
        const question = desk.question;
        if (question?.id !== answer.id) return;
        this.answered(answer);
        const stopped = answer.refused !== undefined || answer.tooLong;
        if (!stopped && answer.method === 'ov') return;
        desk.question = null;
        if (this.waiting) this.next();
        else if (!stopped && !question.final) this.post(this.final, { ...question, final: true });
    }
}
